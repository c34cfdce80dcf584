import { createTarPacker, type TarHeader, type TarPackController } from 'modern-tar'
import { EXECUTABLE_MODE, isDirectory, isSymlink } from '../../git/object/file-mode.ts'
import { decodeText } from '../../git/object/text.ts'
import type { ArchiveEntry, ArchiveOptions } from './archive-entries.ts'

/** The longest time that eleven octal digits hold, in seconds. */
const LATEST_TAR_TIME = 0o77777777777

/** A tar as `git archive` writes it, with the commit's id in a global pax header (`git get-tar-commit-id` reads it). */
export function tarArchive(entries: AsyncIterable<ArchiveEntry>, options: ArchiveOptions): ReadableStream<Uint8Array> {
  const { readable, controller } = createTarPacker()
  writeAll(controller, entries, options).catch((error: unknown) => controller.error(error))
  return readable
}

async function writeAll(
  controller: TarPackController,
  entries: AsyncIterable<ArchiveEntry>,
  { commit, time }: ArchiveOptions,
): Promise<void> {
  const mtime = new Date(Math.min(Math.max(time, 0), LATEST_TAR_TIME) * 1000)
  const comment = paxRecord('comment', commit)
  const common = { mtime, uname: 'root', gname: 'root' }
  const global: TarHeader = {
    ...common,
    name: 'pax_global_header',
    type: 'pax-global-header',
    size: comment.length,
    mode: 0o666,
  }
  await writeBytes(controller.add(global), comment)
  for await (const entry of entries) {
    const { content } = entry
    if (content === null || isSymlink(entry.mode)) {
      const target = content instanceof Uint8Array ? { linkname: decodeText(content) } : {}
      await controller.add({ ...common, ...describe(entry), ...target, size: 0 }).close()
    } else if (content instanceof Uint8Array) {
      await writeBytes(controller.add({ ...common, ...describe(entry), size: content.length }), content)
    } else {
      await content.stream().pipeTo(controller.add({ ...common, ...describe(entry), size: content.size }))
    }
  }
  controller.finalize()
}

/** Modes with the group's write bit, as git gives them unless configured otherwise (`tar.umask` 0002). */
function describe({ name: bytes, mode }: ArchiveEntry): Pick<TarHeader, 'name' | 'mode' | 'type'> {
  // The tar library writes UTF-8 alone: names in Latin-1 come out as UTF-8 too.
  const name = decodeText(bytes)
  if (isDirectory(mode)) return { name, mode: 0o775, type: 'directory' }
  if (isSymlink(mode)) return { name, mode: 0o777, type: 'symlink' }
  return { name, mode: mode === EXECUTABLE_MODE ? 0o775 : 0o664, type: 'file' }
}

async function writeBytes(body: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = body.getWriter()
  if (bytes.length > 0) await writer.write(bytes)
  await writer.close()
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = ` ${key}=${value}\n`
  let length = rest.length + 1
  while (`${length}`.length + rest.length !== length) length = `${length}`.length + rest.length
  return new TextEncoder().encode(`${length}${rest}`)
}

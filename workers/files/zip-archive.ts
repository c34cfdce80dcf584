import { configure, Uint8ArrayReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js'
import { isDirectory, isSymlink } from '../../git/object/file-mode.ts'
import type { ArchiveEntry } from './archive-entries.ts'
import type { ArchiveOptions } from './tar-archive.ts'

configure({ useWebWorkers: false })

/** Zip counts years from 1980 in seven bits. */
const EARLIEST_ZIP_TIME = Date.UTC(1980, 0, 2)
const LATEST_ZIP_TIME = Date.UTC(2107, 11, 30)

/** A zip with Unix modes and symlinks, and the commit's id as its comment, as `git archive` writes it. */
export function zipArchive(entries: AsyncIterable<ArchiveEntry>, options: ArchiveOptions): ReadableStream<Uint8Array> {
  let fail: (error: unknown) => void = () => undefined
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      fail = (error) => controller.error(error)
    },
  })
  writeAll(writable, entries, options).catch((error: unknown) => fail(error))
  return readable
}

async function writeAll(
  writable: WritableStream<Uint8Array>,
  entries: AsyncIterable<ArchiveEntry>,
  { commit, time }: ArchiveOptions,
): Promise<void> {
  const lastModDate = new Date(Math.min(Math.max(time * 1000, EARLIEST_ZIP_TIME), LATEST_ZIP_TIME))
  const zip = new ZipWriter(writable, { lastModDate, msDosCompatible: false })
  for await (const entry of entries) {
    await zip.add(entry.name, reader(entry), { directory: isDirectory(entry.mode), unixMode: unixMode(entry) })
  }
  await zip.close(new TextEncoder().encode(commit))
}

function unixMode({ mode }: ArchiveEntry): number {
  if (isDirectory(mode)) return mode | 0o755
  return isSymlink(mode) ? mode | 0o777 : mode
}

function reader({ content }: ArchiveEntry): Uint8ArrayReader | ReadableStream<Uint8Array> | undefined {
  if (content === null) return undefined
  return content instanceof Uint8Array ? new Uint8ArrayReader(content) : content.stream()
}

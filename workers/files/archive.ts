import { parseSignature } from '../../git/object/signature.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import { conditional } from '../http/conditional.ts'
import { HttpError } from '../http/http-error.ts'
import { utf8Text } from '../http/percent.ts'
import { requireCommit, requireRevision } from '../repository-access.ts'
import { type ArchiveOptions, archiveEntries } from './archive-entries.ts'
import { contentDisposition } from './content-disposition.ts'
import { tarArchive } from './tar-archive.ts'
import { zipArchive } from './zip-archive.ts'

interface Format {
  readonly suffix: string
  readonly type: string
  stream(entries: ReturnType<typeof archiveEntries>, options: ArchiveOptions): ReadableStream<Uint8Array>
}

const FORMATS: readonly Format[] = [
  {
    suffix: '.tar.gz',
    type: 'application/gzip',
    stream: (entries, options) => tarArchive(entries, options).pipeThrough(gzip()),
  },
  { suffix: '.zip', type: 'application/zip', stream: (entries, options) => zipArchive(entries, options) },
]

/** Part of the entity tag: to be raised when the same commit is packed differently. */
const PACKING = 1

/** `/<actor>/<repository>/archive/<revision>.tar.gz` and `.zip`: all files of a commit. `rest` is decoded. */
export async function archive(request: Request, view: RepositoryView, rest: Uint8Array): Promise<Response> {
  const text = utf8Text(rest)
  const format = FORMATS.find(({ suffix }) => text?.endsWith(suffix))
  if (text === null || format === undefined) {
    throw new HttpError(404, 'NotFound', 'archives end in .tar.gz or .zip, after the name of a branch, tag or commit')
  }
  const name = text.slice(0, -format.suffix.length)
  const revision = await requireRevision(view, name, 'commit')
  const { oid, commit } = await requireCommit(view, revision)
  // Weak: compressors differ, what is in the archive does not.
  const etag = `W/"${oid}${format.suffix}.${PACKING}"`
  return conditional(request, { etag, immutable: revision.exact }, async () => {
    const stem = `${view.manifest.name}-${name.replaceAll('/', '-')}`
    const headers = {
      'Content-Type': format.type,
      'Content-Disposition': contentDisposition('attachment', `${stem}${format.suffix}`),
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    }
    if (request.method === 'HEAD') return new Response(null, { headers })
    const entries = archiveEntries(view.objects, commit.tree, stem)
    const time = parseSignature(commit.committer).time ?? 0
    return new Response(format.stream(entries, { commit: oid, time }), { headers })
  })
}

function gzip(): ReadableWritablePair<Uint8Array, Uint8Array> {
  return new CompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>
}

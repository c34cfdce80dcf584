import { isSymlink } from '../../git/object/file-mode.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { joinPath } from '../../git/object/path.ts'
import { decodeText } from '../../git/object/text.ts'
import type { PathEntry } from '../../git/walk/tree-path.ts'
import type { RepositoryObjects, RepositoryView } from '../../storage/repository-view.ts'
import { blobResponse } from '../http/blob-response.ts'
import { peekStream } from '../http/byte-stream.ts'
import { conditional } from '../http/conditional.ts'
import { HttpError } from '../http/http-error.ts'
import { contentDisposition } from './content-disposition.ts'
import { findFile } from './find-file.ts'
import { BINARY, imageType, SNIFFED_BYTES, sniffType, TEXT } from './media-type.ts'
import { splitRevisionAndPath } from './revision-and-path.ts'

/**
 * Whatever is served from here was written by strangers, on the origin of the forge itself: it gets an origin of its
 * own, runs nothing and loads nothing. Styles are let through for the sake of SVG.
 */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** `/<actor>/<repository>/raw/<revision>/<path>`: a file's bytes. `rest` is decoded. */
export async function rawFile(request: Request, view: RepositoryView, rest: Uint8Array): Promise<Response> {
  const split = splitRevisionAndPath(view.manifest, rest)
  if (split === null) throw new HttpError(404, 'RevisionNotFound', 'no branch, tag or object is named so')
  const file = await findFile(view, split.revision, split.path.reduce(joinPath, new Uint8Array(0)))
  const fileName = decodeText(split.path.at(-1) ?? new Uint8Array(0))
  return serveBlob(request, view.objects, file, fileName, file.exact)
}

/** Answers with a blob's bytes, sandboxed. `immutable`: whether the URL names them by a full id. */
export function serveBlob(
  request: Request,
  objects: RepositoryObjects,
  { mode, oid }: PathEntry,
  fileName: string,
  immutable: boolean,
): Promise<Response> {
  const etag = `"${oid}"`
  return conditional(request, { etag, immutable }, async () => {
    const object = await objects.open(oid)
    if (object === null) throw new MissingObjectError(oid)
    const { start, stream } = await peekStream(object.stream(), SNIFFED_BYTES)
    const type = isSymlink(mode) ? TEXT : (imageType(fileName) ?? sniffType(start))
    let isTaken = false
    const take = () => {
      isTaken = true
      return stream
    }
    const content = { size: object.size, stream: take }
    const response = blobResponse(request, etag, content, blobHeaders(type, fileName))
    if (!isTaken) await stream.cancel()
    return response
  })
}

function blobHeaders(type: string, fileName: string): Headers {
  return new Headers({
    'Content-Type': type,
    'Content-Disposition': contentDisposition(type === BINARY ? 'attachment' : 'inline', fileName),
    'Content-Security-Policy': SANDBOX,
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Access-Control-Allow-Origin': '*',
  })
}

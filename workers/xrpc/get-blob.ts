import { FILE_MODE } from '../../git/object/file-mode.ts'
import { BLOB } from '../../git/object/object-type.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import { peelTags } from '../../storage/revision.ts'
import { findFile } from '../files/find-file.ts'
import { serveBlob } from '../files/raw.ts'
import { HttpError, invalidRequest } from '../http/http-error.ts'
import { openRepository, requireRevision } from '../repository-access.ts'
import type { XrpcCall } from './call.ts'
import { parseRepositoryParam } from './repository-param.ts'

interface Params {
  readonly repo: string
  readonly ref: string
  readonly path?: string
  readonly oid?: string
}

/** `dev.skein.git.getBlob` */
export async function getBlob({ request, params, deps }: XrpcCall<Params>): Promise<Response> {
  const { repo, ref, path, oid } = params
  if ((path === undefined) === (oid === undefined)) throw invalidRequest('either path or oid must be given')
  const view = await openRepository(deps, parseRepositoryParam(repo))
  return oid === undefined ? blobByPath(request, view, ref, path!) : blobById(request, view, oid)
}

async function blobByPath(request: Request, view: RepositoryView, ref: string, path: string): Promise<Response> {
  const file = await findFile(view, ref, new TextEncoder().encode(path))
  return serveBlob(request, view.objects, file, path.replace(/\/+$/, '').split('/').at(-1)!, file.exact)
}

async function blobById(request: Request, view: RepositoryView, text: string): Promise<Response> {
  const revision = await requireRevision(view, text, 'blob')
  const { oid, type } = await peelTags(view.objects, revision.oid)
  if (type !== BLOB) throw new HttpError(404, 'RevisionNotFound', `${oid} is no blob`)
  return serveBlob(request, view.objects, { mode: FILE_MODE, oid }, oid, revision.exact)
}

import { type IRequestStrict, Router } from 'itty-router'
import type { RepositoryView } from '../../storage/repository-view.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError } from '../http/http-error.ts'
import { percentDecode, percentDecodeText } from '../http/percent.ts'
import { redirectMoved } from '../http/redirect-moved.ts'
import { openRepository, type RepositoryDeps } from '../repository-access.ts'
import { archive } from './archive.ts'
import { rawFile } from './raw.ts'

type Serve = (request: Request, view: RepositoryView, rest: Uint8Array) => Promise<Response>

/** Files of a repository by plain URLs. `fetch` answers null where the URL is none of them. */
export const filesRouter = Router<IRequestStrict, [deps: RepositoryDeps], Response>({
  catch: (error: unknown, request: IRequestStrict) => redirectMoved(error, request) ?? plainError(httpErrorFrom(error)),
})

filesRouter
  .all('/:actor/:repository/raw/:rest+', serving(rawFile))
  .all('/:actor/:repository/archive/:rest+', serving(archive))

function serving(serve: Serve) {
  return async (request: IRequestStrict, deps: RepositoryDeps): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new HttpError(405, 'MethodNotAllowed', 'only GET and HEAD are served here', { Allow: 'GET, HEAD' })
    }
    const { actor, repository, rest } = request.params as { actor: string; repository: string; rest: string }
    const reference = { actor: percentDecodeText(actor), name: percentDecodeText(repository) }
    const decoded = percentDecode(rest)
    return serve(request, await openRepository(deps, reference), decoded)
  }
}

function plainError({ status, message, headers }: HttpError): Response {
  return new Response(`${message}\n`, {
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    },
  })
}

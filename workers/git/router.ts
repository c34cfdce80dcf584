import { type IRequestStrict, Router } from 'itty-router'
import { errorLine } from '../../git/protocol/pkt-line.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError } from '../http/http-error.ts'
import { percentDecodeText } from '../http/percent.ts'
import { redirectMoved } from '../http/redirect-moved.ts'
import type { RequestContext } from '../request-context.ts'
import { NO_CACHE } from './git-request.ts'
import { infoRefs } from './info-refs.ts'
import { receivePack } from './receive-pack.ts'
import { uploadPack } from './upload-pack.ts'

type Serve = (context: RequestContext, request: Request, actor: string, name: string) => Promise<Response>

/** Smart HTTP (gitprotocol-http) at `/<handle or DID>/<repository>[.git]`. `fetch` answers null where the URL is not git's. */
export const gitRouter = Router<IRequestStrict, [context: RequestContext], Response>({
  catch: (error: unknown, request: IRequestStrict) => gitError(error, request),
})

gitRouter
  .get('/:actor/:repository/info/refs', serving(infoRefs))
  .post('/:actor/:repository/git-upload-pack', serving(uploadPack))
  .post('/:actor/:repository/git-receive-pack', serving(receivePack))
  .all('/:actor/:repository/info/refs', refuseMethod('GET'))
  .all('/:actor/:repository/git-upload-pack', refuseMethod('POST'))
  .all('/:actor/:repository/git-receive-pack', refuseMethod('POST'))

function serving(serve: Serve) {
  return (request: IRequestStrict, context: RequestContext): Promise<Response> => {
    const { actor, repository } = request.params as { actor: string; repository: string }
    const name = percentDecodeText(repository).replace(/\.git$/, '')
    return serve(context, request, percentDecodeText(actor), name)
  }
}

function refuseMethod(allowed: string) {
  return () => {
    throw new HttpError(405, 'MethodNotAllowed', `only ${allowed} is served here`, { Allow: allowed })
  }
}

/**
 * What a git client shows of an error: the text of a refused discovery, and of an RPC only an `ERR` line, which must
 * come with a status of success.
 */
function gitError(error: unknown, request: IRequestStrict): Response {
  if (error instanceof ProtocolError && request.method === 'POST') {
    const service = new URL(request.url).pathname.split('/').at(-1)
    return new Response(errorLine(error.message), {
      headers: { 'Content-Type': `application/x-${service}-result`, ...NO_CACHE },
    })
  }
  const moved = redirectMoved(error, request)
  if (moved !== null) return moved
  const { status, message, headers } = httpErrorFrom(error)
  return new Response(`${message}\n`, {
    status,
    headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8', ...NO_CACHE },
  })
}

import { type IRequest, Router } from 'itty-router'
import { filesRouter } from './files/router.ts'
import { gitRouter } from './git/router.ts'
import { repositoryDeps } from './repository-deps.ts'
import type { RequestContext } from './request-context.ts'
import { xrpcRouter } from './xrpc/router.ts'

/** Every URL that the edge serves. */
export const router = Router<IRequest, [context: RequestContext], Response>()

router
  .get('/', greet)
  .head('/', greet)
  .all('/xrpc/*', (request, context) => xrpcRouter.fetch(request, repositoryDeps(context)))
  .all('/:actor/:repository/info/refs', gitRouter.fetch)
  .all('/:actor/:repository/git-upload-pack', gitRouter.fetch)
  .all('/:actor/:repository/git-receive-pack', gitRouter.fetch)
  .all('/:actor/:repository/raw/*', (request, context) => filesRouter.fetch(request, repositoryDeps(context)))
  .all('/:actor/:repository/archive/*', (request, context) => filesRouter.fetch(request, repositoryDeps(context)))
  .all('*', notFound)

function greet(request: IRequest): Response {
  const { origin } = new URL(request.url)
  return text(
    200,
    `Skein: git that lives in your Atmosphere account, served from the edge.

Clone a repository:   git clone ${origin}/<handle>/<repository>
Push to your account: git push ${origin}/<your handle>/<repository> main
                      (user name: your handle; password: an app password)
`,
  )
}

function notFound(request: IRequest): Response {
  const { origin, pathname } = new URL(request.url)
  return text(404, `there is nothing at ${pathname}; to clone: git clone ${origin}/<handle>/<repository>\n`)
}

function text(status: number, body: string): Response {
  return new Response(body, {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  })
}

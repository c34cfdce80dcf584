import { type IRequestStrict, Router } from 'itty-router'
import { agentGuide } from './agent-guide.ts'
import { edgeDocument } from './auth/edge-did.ts'
import { filesRouter } from './files/router.ts'
import { gitRouter } from './git/router.ts'
import { health } from './health.ts'
import { operatorRouter } from './operator/router.ts'
import { repositoryDeps } from './repository-deps.ts'
import type { RequestContext } from './request-context.ts'
import { nothingHere, textPage } from './text-pages.ts'
import { logPage } from './web/log-page.ts'
import { isOfGo } from './web/negotiate.ts'
import { webRouter } from './web/router.ts'
import { wireWeb } from './web/wire-web.ts'
import { xrpcRouter } from './xrpc/router.ts'

type Serve = (request: IRequestStrict, context: RequestContext) => Response | Promise<Response>

/** For GET, and for HEAD, by which monitors ask; any other method goes on to where it is refused. */
const reading = (serve: Serve) => (request: IRequestStrict, context: RequestContext) =>
  request.method === 'GET' || request.method === 'HEAD' ? serve(request, context) : undefined

/** Every URL that the edge serves. */
export const router = Router<IRequestStrict, [context: RequestContext], Response>()

const pages = (request: IRequestStrict, context: RequestContext) =>
  logPage(request, context, (onOpen) => webRouter.fetch(request, wireWeb(context, request, onOpen)))

router
  .all('/xrpc/dev.skein.operator.:method', operatorRouter.fetch)
  .all('/xrpc/*', (request, context) => xrpcRouter.fetch(request, repositoryDeps(context)))
  // Loaded when it is first called: to make its schemas takes half a second, for which no other request is to wait.
  .all('/mcp', async (request, context) => (await import('./mcp/serve-mcp.ts')).serveMcp(request, context))
  .all(
    '/health',
    reading((_, context) => health(context.environment)),
  )
  .all('/llms.txt', reading(textPage(agentGuide)))
  .all(
    '/.well-known/did.json',
    reading((_, context) => edgeDocument(context.environment)),
  )
  .all('/:actor/:repository/info/refs', gitRouter.fetch)
  .all('/:actor/:repository/git-upload-pack', gitRouter.fetch)
  .all('/:actor/:repository/git-receive-pack', gitRouter.fetch)
  .all('/:actor/:repository/*', (request, context) => (isOfGo(request) ? pages(request, context) : undefined))
  .all('/:actor/:repository/raw/*', (request, context) => filesRouter.fetch(request, repositoryDeps(context)))
  .all('/:actor/:repository/archive/*', (request, context) => filesRouter.fetch(request, repositoryDeps(context)))
  .all('/favicon.ico', reading(textPage(nothingHere)))
  // What git asks for where a clone URL is the edge's alone.
  .get('/info/refs', textPage(nothingHere))
  .all('*', pages)

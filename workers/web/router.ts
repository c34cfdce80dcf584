import { type IRequestStrict, Router } from 'itty-router'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError } from '../http/http-error.ts'
import { redirectMoved } from '../http/redirect-moved.ts'
import { serveAsset } from './assets/assets.ts'
import type { WebDeps } from './deps.ts'
import { answerPage, htmlResponse } from './html-response.ts'
import type { Html } from './jsx/html.ts'
import { loadAccount } from './load/account.ts'
import { loadBlame } from './load/blame.ts'
import { loadCommit } from './load/commit.ts'
import { loadCommits } from './load/commits.ts'
import { loadCompare } from './load/compare.ts'
import { loadFile } from './load/file.ts'
import { loadHome } from './load/home.ts'
import { loadBranches, loadTags } from './load/refs.ts'
import { loadRepository } from './load/repository.ts'
import { loadSearch } from './load/search.ts'
import { loadTree } from './load/tree.ts'
import { type Load, readCall } from './page.ts'
import { AccountPage } from './pages/account.tsx'
import { BlamePage } from './pages/blame.tsx'
import { CommitPage } from './pages/commit.tsx'
import { CommitsPage } from './pages/commits.tsx'
import { ComparePage } from './pages/compare.tsx'
import { ErrorPage } from './pages/error.tsx'
import { FilePage } from './pages/file.tsx'
import { HomePage } from './pages/home.tsx'
import { RefsPage } from './pages/refs.tsx'
import { RepositoryPage } from './pages/repository.tsx'
import { SearchPage } from './pages/search.tsx'
import { TreePage } from './pages/tree.tsx'
import type { Site } from './site.ts'

/** Pages for people who come with a browser. `fetch` answers every GET and HEAD, one that leads nowhere too. */
export const webRouter = Router<IRequestStrict, [deps: WebDeps], Response>({
  catch: (error: unknown, request: IRequestStrict) =>
    redirectMoved(error, request) ?? errorPage(httpErrorFrom(error), request),
  finally: [withoutBody],
})

/** A page that there is under its name, or where to look instead. */
type Moved = { readonly movedTo: string }

webRouter
  .all('*', onlyReading)
  .all('/', page(loadHome, HomePage))
  .all('/search', page(loadSearch, SearchPage))
  .all('/-/assets/:hash/:name', asset)
  .all('/:actor', page(loadAccount, AccountPage))
  .all('/:actor/:repository', page(loadRepository, RepositoryPage))
  .all('/:actor/:repository/tree/:rest+', page(loadTree, TreePage))
  .all('/:actor/:repository/blob/:rest+', page(loadFile, FilePage))
  .all('/:actor/:repository/blame/:rest+', page(loadBlame, BlamePage))
  .all('/:actor/:repository/commits/:rest+', page(loadCommits, CommitsPage))
  .all('/:actor/:repository/commit/:rest+', page(loadCommit, CommitPage))
  .all('/:actor/:repository/compare', page(loadCompare, ComparePage))
  .all('/:actor/:repository/compare/:rest+', page(loadCompare, ComparePage))
  .all('/:actor/:repository/branches', page(loadBranches, RefsPage))
  .all('/:actor/:repository/tags', page(loadTags, RefsPage))
  .all('*', nothingHere)

/** @param load finds what the page shows. @param draw makes a page of it */
function page<T extends object>(load: Load<T | Moved>, draw: (data: T, site: Site) => Html) {
  return async (request: IRequestStrict, deps: WebDeps): Promise<Response> => {
    const call = readCall(request, deps)
    const source = await load(call)
    return answerPage(request as unknown as Request, source, async () => {
      const data = await source.read()
      return 'movedTo' in data ? redirect(data.movedTo, call.url.search) : draw(data, siteOf(request))
    })
  }
}

function siteOf(request: Pick<Request, 'url'>): Site {
  const { origin, pathname, searchParams } = new URL(request.url)
  return { origin, path: pathname, query: pathname === '/search' ? (searchParams.get('q') ?? '') : '' }
}

function redirect(path: string, search: string): Response {
  return new Response(null, { status: 302, headers: { Location: `${path}${search}`, Vary: 'Accept' } })
}

function asset({ params: { hash, name } }: IRequestStrict): Response {
  const answer = serveAsset(hash!, name!)
  if (answer === null) throw new HttpError(404, 'NotFound', 'there is no such asset')
  return answer
}

function onlyReading({ method }: IRequestStrict): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'MethodNotAllowed', 'only GET and HEAD are served here', { Allow: 'GET, HEAD' })
  }
}

function nothingHere(request: IRequestStrict): never {
  throw new HttpError(404, 'NotFound', `there is nothing at ${new URL(request.url).pathname}`)
}

function errorPage(error: HttpError, request: IRequestStrict): Response {
  const retry = error.code === 'StillMirroring' ? { Refresh: error.headers['Retry-After'] ?? '5' } : {}
  const headers = { ...error.headers, ...retry, 'Cache-Control': 'no-store' }
  return htmlResponse(error.status, ErrorPage(error, siteOf(request)), headers)
}

function withoutBody(response: Response, { method }: IRequestStrict): Response {
  return method === 'HEAD' ? new Response(null, response) : response
}

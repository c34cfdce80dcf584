import { type IRequestStrict, Router } from 'itty-router'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError } from '../http/http-error.ts'
import { percentDecodeText } from '../http/percent.ts'
import { redirectMoved } from '../http/redirect-moved.ts'
import { serveAsset } from './assets/assets.ts'
import { answerCard } from './cards/answer-card.ts'
import type { WebDeps } from './deps.ts'
import { robotsText, SITEMAP_PARTS, SITEMAP_REPOSITORIES, sitemapIndex, sitemapOf } from './feeds/crawlers.ts'
import { accountFeed, commitsFeed, tagsFeed } from './feeds/feeds.ts'
import type { Html } from './jsx/html.ts'
import { loadAccount } from './load/account.ts'
import { loadBlame } from './load/blame.ts'
import { type CardSource, cardOfAccount, cardOfCommit, cardOfRepository } from './load/cards.ts'
import { loadCommit } from './load/commit.ts'
import { loadCommits, loadNewCommits } from './load/commits.ts'
import { loadCompare } from './load/compare.ts'
import { loadFile } from './load/file.ts'
import { loadHome } from './load/home.ts'
import { loadBranches, loadTags } from './load/refs.ts'
import { loadRepository } from './load/repository.ts'
import { loadSearch } from './load/search.ts'
import { loadSignIn } from './load/sign-in.ts'
import { loadTree } from './load/tree.ts'
import { formOf, isOfGo } from './negotiate.ts'
import { type Load, type PageCall, readCall } from './page.ts'
import { answerPage, answerText, errorResponse, type PageKeeper, textResponse } from './page-response.ts'
import { AccountPage } from './pages/account.tsx'
import { BlamePage } from './pages/blame.tsx'
import { CommitPage } from './pages/commit.tsx'
import { CommitsPage } from './pages/commits.tsx'
import { ComparePage } from './pages/compare.tsx'
import { ErrorPage } from './pages/error.tsx'
import { FilePage } from './pages/file.tsx'
import { HomePage } from './pages/home.tsx'
import { RefsPage } from './pages/refs.tsx'
import { ReleasesPage } from './pages/releases.tsx'
import { RepositoryPage } from './pages/repository.tsx'
import { SearchPage } from './pages/search.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { TreePage } from './pages/tree.tsx'
import { find } from './palette/find.ts'
import type { Site } from './site.ts'
import { accountText, homeText, searchText, signInText } from './text/accounts.ts'
import { errorText } from './text/error.ts'
import { blameText, fileText, repositoryText, treeText } from './text/files.ts'
import { commitsText, commitText, compareText, refsText } from './text/history.ts'
import { jsonOf } from './text/json.ts'

/** Pages for people who come with a browser. `fetch` answers every GET and HEAD, one that leads nowhere too. */
export const webRouter = Router<IRequestStrict, [deps: WebDeps], Response>({
  catch: (error: unknown, request: IRequestStrict) =>
    redirectMoved(error, request) ?? errorPage(httpErrorFrom(error), request),
  finally: [withoutBody],
})

/** A page that there is under its name, or where to look instead. */
type Moved = { readonly movedTo: string }

const repositoryPage = page(loadRepository, RepositoryPage, repositoryText)

webRouter
  .all('*', onlyReading)
  .all('/', page(loadHome, HomePage, homeText))
  .all('/search', page(loadSearch, SearchPage, searchText))
  .all('/sign-in', page(loadSignIn, SignInPage, signInText))
  .all('/robots.txt', ({ url }) => textResponse(robotsText(new URL(url).origin), 'text/plain; charset=utf-8'))
  .all('/sitemap.xml', ({ url }) => textResponse(sitemapIndex(new URL(url).origin), XML))
  .all('/-/sitemap/:part', sitemap)
  .all('/-/find', findAnswer)
  .all('/-/find/:actor/:repository', findAnswer)
  .all('/-/avatar/:actor/:cid', avatar)
  .all('/-/card/:version/:actor/card.png', card(cardOfAccount))
  .all('/-/card/:version/:actor/:repository/card.png', card(cardOfRepository))
  .all('/-/card/:version/:actor/:repository/commit/:rest/card.png', card(cardOfCommit))
  .all('/-/feed/:actor', feed(loadAccount, accountFeed))
  .all('/-/assets/:hash/:name', asset)
  .all('/:actor', page(loadAccount, AccountPage, accountText))
  .all('/:actor/:repository', repositoryPage)
  .all('/:actor/:repository/:rest+', ofGo)
  .all('/:actor/:repository/tree/:rest+', page(loadTree, TreePage, treeText))
  .all('/:actor/:repository/blob/:rest+', page(loadFile, FilePage, fileText))
  .all('/:actor/:repository/blame/:rest+', page(loadBlame, BlamePage, blameText))
  .all('/:actor/:repository/commits/:rest+', page(loadCommits, CommitsPage, commitsText))
  .all('/:actor/:repository/commits.atom', feed(loadNewCommits, commitsFeed))
  .all('/:actor/:repository/tags.atom', feed(loadTags, tagsFeed))
  .all('/:actor/:repository/commit/:rest+', page(loadCommit, CommitPage, commitText))
  .all('/:actor/:repository/compare', page(loadCompare, ComparePage, compareText))
  .all('/:actor/:repository/compare/:rest+', page(loadCompare, ComparePage, compareText))
  .all('/:actor/:repository/branches', page(loadBranches, RefsPage, refsText))
  .all('/:actor/:repository/releases', page(loadTags, ReleasesPage, refsText))
  .all('/:actor/:repository/tags', page(loadTags, RefsPage, refsText))
  .all('*', nothingHere)

/**
 * @param load finds what the page shows
 * @param drawHtml makes a page of it
 * @param drawText makes Markdown of it. JSON is what there is to be shown, as it is
 */
function page<T extends object>(
  load: Load<T | Moved>,
  drawHtml: (data: T, site: Site) => Html,
  drawText: (data: T, site: Site) => string,
) {
  return async (request: IRequestStrict, deps: WebDeps): Promise<Response> => {
    const call = readCall(request, deps)
    const source = await load(call)
    return answerPage(request as unknown as Request, source, keeperOf(call), async () => {
      const data = await source.read()
      if ('movedTo' in data) return redirect(data.movedTo, call.url.search)
      if (call.form === 'json') return jsonOf(data)
      const site = siteOf(request)
      return call.form === 'html' ? drawHtml(data, site).text : drawText(data, site)
    })
  }
}

/** What the index alone is asked for has been read by the time that its tag is known. */
function keeperOf({ repository, deps }: PageCall): PageKeeper | null {
  return repository === '' ? null : deps.keeper
}

/** The same for what is read by programs that wait for news. */
function feed<T extends object>(load: Load<T>, draw: (data: T, site: Site) => string) {
  return async (request: IRequestStrict, deps: WebDeps): Promise<Response> => {
    const call = readCall(request, deps)
    const source = await load(call)
    const key = ['feed', ...source.key]
    const read = async () => draw(await source.read(), siteOf(request))
    return answerText(request as unknown as Request, { key, immutable: false }, ATOM, keeperOf(call), read)
  }
}

const ATOM = 'application/atom+xml; charset=utf-8'
const XML = 'application/xml; charset=utf-8'

async function findAnswer(request: IRequestStrict, deps: WebDeps): Promise<Response> {
  return textResponse(jsonOf({ found: await find(readCall(request, deps)) }), 'application/json')
}

/** What the account has as a blob; its id says what it is, so it never changes. */
async function avatar({ params: { actor, cid } }: IRequestStrict, deps: WebDeps): Promise<Response> {
  const account = await deps.account(percentDecodeText(actor!))
  const picture = await account.avatar(cid!)
  if (picture === null) throw new HttpError(404, 'NotFound', 'this account has no such picture')
  return new Response(picture.bytes, {
    headers: {
      'Content-Type': picture.type,
      'Cache-Control': 'public, max-age=604800, immutable',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

/** @param of what the card shows */
function card(of: (call: PageCall) => Promise<CardSource>) {
  return async (request: IRequestStrict, deps: WebDeps): Promise<Response> =>
    answerCard(request as unknown as Request, request.params.version!, await of(readCall(request, deps)), deps.keeper)
}

async function sitemap({ params: { part }, url }: IRequestStrict, { index }: WebDeps): Promise<Response> {
  const prefix = SITEMAP_PARTS[Number(part)]
  if (prefix === undefined) throw new HttpError(404, 'NotFound', 'the sitemap has no such part')
  const places = await index.places(prefix, SITEMAP_REPOSITORIES)
  return textResponse(sitemapOf(places, new URL(url).origin), XML)
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

/** A package may be called as a page is: Go comes first. */
function ofGo(request: IRequestStrict, deps: WebDeps): Promise<Response> | undefined {
  return isOfGo(request) ? repositoryPage(request, deps) : undefined
}

function nothingHere(request: IRequestStrict): never {
  throw new HttpError(404, 'NotFound', `there is nothing at ${new URL(request.url).pathname}`)
}

function errorPage(error: HttpError, request: IRequestStrict): Response {
  const form = formOf(request as unknown as Request)
  const isWaiting = form === 'html' && error.code === 'StillMirroring'
  const retry = isWaiting ? { Refresh: error.headers['Retry-After'] ?? '5' } : {}
  const headers = { ...error.headers, ...retry, 'Cache-Control': 'no-store' }
  const drawn =
    form === 'html'
      ? ErrorPage(error, siteOf(request)).text
      : form === 'json'
        ? jsonOf({ error: error.code, message: error.message })
        : errorText(error)
  return errorResponse(request as unknown as Request, error.status, drawn, headers)
}

function withoutBody(response: Response, { method }: IRequestStrict): Response {
  return method === 'HEAD' ? new Response(null, response) : response
}

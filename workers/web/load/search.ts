import { decodePosition, encodePosition } from '../../xrpc/position-cursor.ts'
import { accountHref } from '../hrefs.ts'
import type { PageCall, PageSource } from '../page.ts'
import { type ListedRepository, listedRepository } from './listed.ts'

export interface SearchData {
  readonly query: string
  readonly topic: string | null
  readonly repositories: readonly ListedRepository[]
  readonly accounts: readonly FoundAccount[]
  /** `after` of the next page; null: this is the last one. */
  readonly next: string | null
}

export interface FoundAccount {
  readonly actor: string
  readonly href: string
  readonly repositories: number
}

const REPOSITORIES = 25
const ACCOUNTS = 6
/** Longer queries are cut, in UTF-16 units. */
const MAX_QUERY = 200

/** `/search?q=&topic=&after=` */
export async function loadSearch({ url, deps: { index } }: PageCall): Promise<PageSource<SearchData>> {
  const query = (url.searchParams.get('q') ?? '').slice(0, MAX_QUERY).toWellFormed().trim()
  const topic = url.searchParams.get('topic')?.slice(0, MAX_QUERY).toWellFormed() || null
  const after = url.searchParams.get('after') ?? undefined
  const page = { limit: REPOSITORIES, ...decodePosition(after, ['number', 'number', 'number', 'number']) }
  // Without anything to look for nothing is found.
  const hasAccounts = query !== '' && topic === null && after === undefined
  const { repositories, accounts } = await index.search(query, topic ?? undefined, page, hasAccounts ? ACCOUNTS : 0)
  const data: SearchData = {
    query,
    topic,
    repositories: repositories.items.map(listedRepository),
    accounts: accounts.map(({ did, handle, repositories }) => ({
      actor: handle ?? did,
      href: accountHref(handle ?? did),
      repositories,
    })),
    next: encodePosition(repositories.next) ?? null,
  }
  return { key: [data], immutable: false, read: async () => data }
}

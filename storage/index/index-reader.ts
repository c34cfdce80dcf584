import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { CLOCK_SKEW } from '../../atproto/records/tid.ts'
import { runBatch } from '../d1-batch.ts'
import {
  type IndexedAccount,
  listPlaces,
  listRepositoriesOf,
  type Profile,
  type RepositoryOrder,
  type RepositoryPlace,
  readProfile,
  selectAccounts,
} from './account-queries.ts'
import { findByHandle, type HandleHolder } from './account-standings.ts'
import { type IndexedRepository, indexedRepository } from './indexed-repository.ts'
import { type Page, type Position, pageOf } from './keyset.ts'
import { type FoundColumns, foundPosition, selectFound } from './search.ts'
import { parseSearch } from './search-query.ts'
import { type IndexedPush, newestPushes, newestRepositories } from './timeline.ts'

/** What a text finds. */
export interface SearchResult {
  readonly repositories: Page<IndexedRepository>
  readonly accounts: readonly IndexedAccount[]
}

/** A page that is asked for. */
export interface PageRequest {
  readonly limit: number
  /** `next` of the page before. Default: the first page. */
  readonly after?: Position
}

/** What the index answers. Accounts that are not served, and their repositories, are in none of it. */
export class IndexReader {
  readonly #db: DrizzleD1Database
  readonly #now: () => number

  /** @param now milliseconds since 1970 */
  constructor(db: DrizzleD1Database, now: () => number = Date.now) {
    this.#db = db
    this.#now = now
  }

  /**
   * Repositories that have all words of a text, best first, and accounts whose handle starts with it: in one request.
   *
   * @param topic that the repositories are to have, too
   * @param maxAccounts how many of them. Default none
   */
  async search(text: string, topic: string | undefined, page: PageRequest, maxAccounts = 0): Promise<SearchResult> {
    const { match, handlePrefix, ...query } = parseSearch(text, topic)
    if (match === null) return { repositories: { items: [], next: null }, accounts: [] }
    const hasAccounts = maxAccounts > 0 && handlePrefix !== null
    const [found, accounts] = await runBatch(this.#db, [
      selectFound({ ...query, match }, { ...page, latest: this.#latest() }),
      ...(hasAccounts ? [selectAccounts(handlePrefix, maxAccounts)] : []),
    ])
    return {
      repositories: pageOf(found!.results as FoundColumns[], page.limit, foundPosition, indexedRepository),
      accounts: (accounts?.results ?? []) as IndexedAccount[],
    }
  }

  /** The newest pushes. @param did of this account alone */
  pushes(did: string | undefined, page: PageRequest): Promise<Page<IndexedPush>> {
    return newestPushes(this.#db, { ...page, ...(did === undefined ? {} : { did }), latest: this.#latest() })
  }

  /** The newest repositories. @param did of this account alone */
  repositories(did: string | undefined, page: PageRequest): Promise<Page<IndexedRepository>> {
    return newestRepositories(this.#db, { ...page, ...(did === undefined ? {} : { did }), latest: this.#latest() })
  }

  repositoriesOf(did: string, order: RepositoryOrder, page: PageRequest): Promise<Page<IndexedRepository>> {
    return listRepositoriesOf(this.#db, did, { ...page, order })
  }

  /** Of the accounts whose DIDs start so. */
  places(didPrefix: string, limit: number): Promise<RepositoryPlace[]> {
    return listPlaces(this.#db, didPrefix, limit)
  }

  /** Null: the index does not know the account, or it is not served. */
  profile(did: string): Promise<Profile | null> {
    return readProfile(this.#db, did, this.#latest())
  }

  /** See `findByHandle`: whether the account is served, its profile says. */
  findByHandle(handle: string): Promise<HandleHolder | null> {
    return findByHandle(this.#db, handle)
  }

  /** Times after this are not believed. */
  #latest(): number {
    return this.#now() + CLOCK_SKEW
  }
}

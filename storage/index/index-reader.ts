import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { CLOCK_SKEW } from '../../atproto/records/tid.ts'
import {
  type IndexedAccount,
  listRepositoriesOf,
  type Profile,
  type RepositoryOrder,
  readProfile,
  searchAccounts,
} from './account-queries.ts'
import { findByHandle, type HandleHolder } from './account-standings.ts'
import type { IndexedRepository } from './indexed-repository.ts'
import type { Page, Position } from './keyset.ts'
import { searchRepositories } from './search.ts'
import { parseSearch } from './search-query.ts'
import { type IndexedPush, newestPushes, newestRepositories } from './timeline.ts'

const NOTHING: Page<never> = { items: [], next: null }

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

  /** Repositories that have all words of a text, best first. @param topic that they are to have, too */
  async search(text: string, topic: string | undefined, page: PageRequest): Promise<Page<IndexedRepository>> {
    const query = parseSearch(text, topic)
    if (query.match === null) return NOTHING
    return searchRepositories(this.#db, { ...query, match: query.match }, { ...page, now: this.#now() })
  }

  /** Accounts whose handle starts with a text. */
  async searchAccounts(text: string, limit: number): Promise<IndexedAccount[]> {
    const { handlePrefix } = parseSearch(text)
    return handlePrefix === null ? [] : searchAccounts(this.#db, handlePrefix, limit)
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

import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { DirectoryEntry } from './repository-directory.ts'

/** For how long an isolate goes by what it has read, in milliseconds: another one may have listed the account since. */
const KEPT_FOR = 10_000
/** Accounts of which an isolate keeps names, and names that it keeps of one. */
const ACCOUNTS_KEPT = 1_000
const NAMES_KEPT = 100

/** A repository of an account, as it was read from the directory. */
export interface ListedName {
  readonly entry: DirectoryEntry
  /** When the account had been listed, in milliseconds since 1970. */
  readonly listedAt: number
}

/** The names of one account. Whoever is about to read the directory takes it first, and notes in it what was found. */
export class AccountNames {
  readonly #names = new LruCache<string, ListedName & { readonly until: number }>(NAMES_KEPT, () => 1)

  get(name: string): ListedName | null {
    const kept = this.#names.get(name)
    return kept === undefined || kept.until <= Date.now() ? null : kept
  }

  /** @param readAt when reading began, in milliseconds since 1970 */
  keep(name: string, { entry, listedAt }: ListedName, readAt: number): void {
    this.#names.set(name, { entry, listedAt, until: readAt + KEPT_FOR })
  }
}

/**
 * What an isolate has read of the directory a moment ago. Names that were not there are not kept: they may be created at
 * any time.
 */
export class ListedNames {
  readonly #accounts = new LruCache<string, AccountNames>(ACCOUNTS_KEPT, () => 1)

  of(did: string): AccountNames {
    let names = this.#accounts.get(did)
    if (names === undefined) {
      names = new AccountNames()
      this.#accounts.set(did, names)
    }
    return names
  }

  /** The directory has changed. What is still being read of it as it was is not kept either. */
  forget(did: string): void {
    this.#accounts.delete(did)
  }
}

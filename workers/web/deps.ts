import type { IndexReader } from '../../storage/index/index-reader.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import type { RepositoryReference } from '../repository-access.ts'
import type { KnownRepository } from '../xrpc/deps.ts'
import type { FactsKeeper } from './facts/kept-facts.ts'
import type { LastCommitsKeeper } from './kept-last-commits.ts'
import type { PageKeeper } from './page-response.ts'

/** A repository, and what its record says of it. */
export interface OpenedRepository extends KnownRepository {
  readonly view: RepositoryView
  readonly lastCommits: LastCommitsKeeper
  readonly facts: FactsKeeper
}

/** What the pages are given. Each throws an {@link HttpError}. */
export interface WebDeps {
  readonly keeper: PageKeeper
  /** @throws {@link HttpError} 404; 503 where its mirror is not ready for a while */
  open(reference: RepositoryReference): Promise<OpenedRepository>
  /** Who an actor is, and the repositories of the account. @throws {@link HttpError} 404 */
  account(actor: string): Promise<ListedAccount>
  /** What is known of all accounts. */
  readonly index: Pick<IndexReader, 'search' | 'pushes' | 'repositories' | 'repositoriesOf' | 'profile' | 'places'>
}

export interface ListedAccount {
  readonly did: string
  /** Null where none verifies. */
  readonly handle: string | null
  /** Oldest first. Asked for only where the index does not know the account. */
  repositories(): Promise<readonly KnownRepository[]>
}

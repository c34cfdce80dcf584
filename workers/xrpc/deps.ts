import type { RepoRecord } from '../../atproto/records/record-types.ts'
import type { TokenStore } from '../../storage/access/token-store.ts'
import type { IndexReader } from '../../storage/index/index-reader.ts'
import type { GatewayDeps } from '../gateway/gateway-deps.ts'
import type { RepositoryDeps, RepositoryReference } from '../repository-access.ts'

export interface Account {
  readonly did: string
  /** Null where none verifies. */
  readonly handle: string | null
}

/** A repository as its record says it is. */
export interface KnownRepository {
  readonly account: Account
  readonly rkey: string
  readonly record: RepoRecord
}

/** What `dev.skein.repo.create` may choose. */
export type NewRepository = Pick<RepoRecord, 'name' | 'description' | 'website' | 'topics' | 'defaultBranch'>

/** What the XRPC methods are given. Each throws an {@link HttpError} where the account's server cannot be asked. */
export interface XrpcDeps extends RepositoryDeps {
  find(reference: RepositoryReference): Promise<KnownRepository | null>
  /** The repositories of an account, by record key; null if there is no such account. */
  list(actor: string): Promise<readonly KnownRepository[] | null>
  /**
   * Creates a repository in the account whose credentials the request carries.
   *
   * @throws {@link HttpError} 401 for none or wrong credentials, 403 for a token that may not, 409 if the name is taken,
   * 429 and 503
   */
  create(request: Request, repository: NewRepository): Promise<KnownRepository>
  /**
   * The account whose owner makes the request.
   *
   * @param nsid the method that is called
   * @throws {@link HttpError} 401 for none or wrong credentials, 403 for a token's, 429 and 503
   */
  requireOwner(request: Request, nsid: string): Promise<Account>
  readonly tokens: Pick<TokenStore, 'create' | 'list' | 'revoke'>
  readonly gateway: GatewayDeps
  /** What is known of all accounts. */
  readonly index: Pick<
    IndexReader,
    'search' | 'pushes' | 'repositories' | 'repositoriesOf' | 'profile' | 'findByHandle'
  >
}

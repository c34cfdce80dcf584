import { decodePosition, encodePosition } from '../../xrpc/position-cursor.ts'
import type { PageCall, PageSource } from '../page.ts'
import type { AccountProfile } from '../profile/read-profile.ts'
import { type ListedPush, type ListedRepository, listedKnown, listedPush, listedRepository } from './listed.ts'

/** An account. */
export interface AccountData {
  /** Handle, or the DID where none verifies. */
  readonly actor: string
  readonly did: string
  readonly profile: AccountProfile
  readonly repositories: readonly ListedRepository[]
  /** How many there are; null where that is not known. */
  readonly total: number | null
  /** `after` of the next page; null: this is the last one. */
  readonly next: string | null
  readonly pushes: readonly ListedPush[]
}

const REPOSITORIES = 30
const PUSHES = 10

/** `/<actor>?after=` */
export async function loadAccount({ actor, url, deps }: PageCall): Promise<PageSource<AccountData>> {
  const account = await deps.account(actor)
  const { did, handle } = account
  const after = url.searchParams.get('after') ?? undefined
  const page = { limit: REPOSITORIES, ...decodePosition(after, ['number', 'string']) }
  const [profile, indexed, pushes, about] = await Promise.all([
    deps.index.profile(did),
    deps.index.repositoriesOf(did, 'pushed', page),
    deps.index.pushes(did, { limit: PUSHES }),
    account.profile(),
  ])
  const isIndexed = profile !== null && profile.repositories > 0
  const data: AccountData = {
    actor: handle ?? did,
    did,
    profile: about,
    // What nobody has followed or listed yet is asked for at the account itself.
    repositories: isIndexed
      ? indexed.items.map(listedRepository)
      : (await account.repositories()).map(listedKnown).reverse(),
    total: isIndexed ? profile.repositories : null,
    next: isIndexed ? (encodePosition(indexed.next) ?? null) : null,
    pushes: pushes.items.map(listedPush),
  }
  return { key: [data], immutable: false, read: async () => data }
}

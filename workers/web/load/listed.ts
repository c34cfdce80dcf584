import type { IndexedRepository } from '../../../storage/index/indexed-repository.ts'
import type { IndexedPush } from '../../../storage/index/timeline.ts'
import type { KnownRepository } from '../../xrpc/deps.ts'
import { repositoryHref } from '../hrefs.ts'

/** A repository in a list of several accounts' ones. */
export interface ListedRepository {
  /** Handle, or the DID where none verifies. */
  readonly actor: string
  readonly name: string
  readonly href: string
  readonly description: string | null
  readonly topics: readonly string[]
  /** Milliseconds since 1970; null where no push is known. */
  readonly pushedAt: number | null
}

/** A push in a list. */
export interface ListedPush {
  readonly repository: ListedRepository
  /** Full name of the ref; null: many were moved. */
  readonly ref: string | null
  readonly refs: number
  /** Null: the ref was deleted, or there are many. */
  readonly target: string | null
  /** Milliseconds since 1970. */
  readonly pushedAt: number
}

export function listedRepository({ did, handle, record, pushedAt }: IndexedRepository): ListedRepository {
  return listed(handle ?? did, record, pushedAt)
}

export function listedKnown({ account: { did, handle }, record }: KnownRepository): ListedRepository {
  return listed(handle ?? did, record, null)
}

export function listedPush({ repository, ref, refs, target, pushedAt }: IndexedPush): ListedPush {
  return { repository: listedRepository(repository), ref, refs, target, pushedAt }
}

function listed(actor: string, record: IndexedRepository['record'], pushedAt: number | null): ListedRepository {
  return {
    actor,
    name: record.name,
    href: repositoryHref(actor, record.name),
    description: record.description?.trim() || null,
    topics: record.topics ?? [],
    pushedAt,
  }
}

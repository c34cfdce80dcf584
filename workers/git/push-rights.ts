import type { AccessTarget } from '../../atproto/access/grant.ts'
import { type Oid, ZERO_OID } from '../../git/bytes/oid.ts'
import type { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { isAncestor } from '../../git/walk/reachability.ts'
import { type Caller, refusalOf } from '../auth/caller.ts'

interface Move {
  /** Full name of the ref. */
  readonly name: string
  readonly old: Oid
  readonly new: Oid
}

/**
 * Why a caller may not move a ref by a push, in words for its `ng`; null: they may, as far as can be said without the
 * objects. A branch that exists needs `commit`; creating and deleting one, and all that is no branch, needs `branch`.
 *
 * @param rkey of the repository; null: the push creates it
 */
export function refuseMove(caller: Caller, rkey: string | null, move: Move): string | null {
  const target = { rkey, ref: move.name }
  if (caller.may('branch', target)) return null
  return isUpdate(move) && caller.may('commit', target) ? null : refusal(caller, isUpdate(move), target)
}

/** The same, where the objects are at hand: a move that loses commits needs `branch`. */
export function refuseForced(caller: Caller, rkey: string | null, move: Move, graph: RepositoryGraph): string | null {
  const target = { rkey, ref: move.name }
  if (!isUpdate(move) || caller.may('branch', target)) return null
  const [from, to] = [graph.find(move.old), graph.find(move.new)]
  if (from >= 0 && to >= 0 && isAncestor(graph, from, to)) return null
  return `${refusalOf(caller, 'branch', target)}: this is no fast-forward, fetch and merge first`
}

function isUpdate(move: Move): boolean {
  return move.old !== ZERO_OID && move.new !== ZERO_OID && move.name.startsWith('refs/heads/')
}

function refusal(caller: Caller, needsCommit: boolean, target: AccessTarget): string {
  return refusalOf(caller, needsCommit ? 'commit' : 'branch', target)
}

import type { RefMove } from '../../atproto/account/landing.ts'
import type { WriterRef } from '../../durable-objects/repository/answers.ts'
import { type Oid, ZERO_OID } from '../../git/bytes/oid.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { type CheckedCommand, STALE_REF } from '../../git/protocol/check-commands.ts'
import { peelTag } from '../../git/walk/peel-tag.ts'
import { isAncestor } from '../../git/walk/reachability.ts'

/** The push option of whoever wants to push over a ref that cannot be read: `git push -o skein.replace-unreadable`. */
export const REPLACE_UNREADABLE = 'skein.replace-unreadable'

/** Commands as they stand now, and what those that may be carried out are as moves of refs. */
export interface PlannedMoves {
  /** In the order of the push. */
  readonly commands: readonly CheckedCommand[]
  readonly moves: readonly RefMove[]
}

/**
 * Makes moves of commands that were checked before the pack was read, by the refs as they are now. That was a while
 * ago: whoever moved a ref since then was faster, and a move from what it is now would undo what they pushed.
 *
 * @param graph of all that the repository has with the push
 * @param pushOptions see {@link REPLACE_UNREADABLE}
 */
export function planMoves(
  checked: readonly CheckedCommand[],
  refs: readonly WriterRef[],
  graph: CommitGraph,
  pushOptions: readonly string[] = [],
): PlannedMoves {
  const known = new Map(refs.map((ref) => [ref.state.name, ref]))
  const moves: RefMove[] = []
  const commands = checked.map((command): CheckedCommand => {
    if (!command.ok) return command
    const { name } = command
    const ref = known.get(name)
    // A broken ref is shown to nobody, so the pusher takes it to be absent.
    const shown = ref === undefined || ref.isBroken ? null : ref.state.target
    const isDeletion = command.new === ZERO_OID
    const unreadable = ref?.isBroken ? ref.state.target : null
    if (unreadable !== null && !isDeletion && !pushOptions.includes(REPLACE_UNREADABLE)) {
      if (!goesOnFrom(graph, unreadable, command.new)) return { ok: false, name, reason: unreadableReason(unreadable) }
    }
    if ((shown ?? ZERO_OID) !== command.old && !(isDeletion && shown === null)) {
      return { ok: false, name, reason: STALE_REF }
    }
    const from = ref?.state ?? null
    // Deleting what is not there is done already.
    if (isDeletion && from?.target == null) return command
    moves.push(isDeletion ? { name, from, target: null, peeled: null } : moveTo(command.new, name, from, graph))
    return command
  })
  return { commands, moves }
}

/** Whether nothing that a ref has been at is lost when it moves. */
function goesOnFrom(graph: CommitGraph, from: Oid, to: Oid): boolean {
  if (from === to) return true
  const [earlier, later] = [graph.find(peelTag(graph, from)), graph.find(peelTag(graph, to))]
  return earlier >= 0 && later >= 0 && isAncestor(graph, earlier, later)
}

function unreadableReason(target: Oid): string {
  return `it is at ${target} in the account, which cannot be read here; push what goes on from there, or replace it: git push -o ${REPLACE_UNREADABLE}`
}

function moveTo(target: Oid, name: string, from: RefMove['from'], graph: CommitGraph): RefMove {
  const peeled = peelTag(graph, target)
  return { name, from, target, peeled: peeled === target ? null : peeled }
}

import type { RefMove } from '../../atproto/account/landing.ts'
import type { WriterRef } from '../../durable-objects/repository/answers.ts'
import { type Oid, ZERO_OID } from '../../git/bytes/oid.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { type CheckedCommand, STALE_REF } from '../../git/protocol/check-commands.ts'
import { peelTag } from '../../git/walk/peel-tag.ts'

/** Commands as they stand now, and what those that may be carried out are as moves of refs. */
export interface PlannedMoves {
  /** In the order of the push. */
  readonly commands: readonly CheckedCommand[]
  readonly moves: readonly RefMove[]
}

/**
 * Makes moves of commands that were checked before the pack was read, by the refs as they are now. That was a while
 * ago: whoever moved a ref since then was faster, and a move from what it is now would undo what they pushed.
 */
export function planMoves(
  checked: readonly CheckedCommand[],
  refs: readonly WriterRef[],
  graph: CommitGraph,
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

function moveTo(target: Oid, name: string, from: RefMove['from'], graph: CommitGraph): RefMove {
  const peeled = peelTag(graph, target)
  return { name, from, target, peeled: peeled === target ? null : peeled }
}

import type { NewObject } from '../../git/object/new-object.ts'
import type { RefusedWork } from './answers.ts'
import { applyWork } from './apply-work.ts'
import { type BranchPlace, type BranchTip, Ground, type Stored } from './ground.ts'
import type { AttemptedWork, QueuedWork } from './queue-store.ts'

/** What comes of several pieces of work, one after the other on one branch. */
export interface Fold {
  /** Where the branch is in the end. */
  readonly tip: BranchTip | null
  /** What has been made. Some of it may be stored already. */
  readonly objects: readonly NewObject[]
  readonly applied: readonly AttemptedWork[]
  readonly refused: readonly { readonly seq: number; readonly refusal: RefusedWork }[]
}

/** What says nothing about the work, met at one piece of it. */
export class ApplyFault extends Error {
  override name = 'ApplyFault'
  readonly seq: number

  constructor(seq: number, cause: unknown) {
    super(String(cause), { cause })
    this.seq = seq
  }
}

/** Bytes that work may make before what comes next is left for another landing. */
const MADE_BYTES = 16 * 1024 * 1024

/**
 * Applies work in its order, each on the branch as the one before has left it. What is refused leaves the branch as it
 * is. Deleting a branch goes alone: what has been made before it would be in no branch, and what comes after it begins
 * from nothing that the account has.
 *
 * @throws {@link ApplyFault}
 */
export async function foldBatch(place: BranchPlace, stored: Stored, works: readonly QueuedWork[]): Promise<Fold> {
  const ground = new Ground(place, stored)
  const applied: AttemptedWork[] = []
  const refused: { seq: number; refusal: RefusedWork }[] = []
  let bytes = 0
  for (const { seq, work, handedIn } of works) {
    const isDeletion = work.kind === 'delete'
    if (applied.length > 0 && (isDeletion || bytes > MADE_BYTES)) break
    const result = await applyWork(ground, work, Math.floor(handedIn / 1000)).catch((cause) => {
      throw new ApplyFault(seq, cause)
    })
    if (!result.ok) {
      refused.push({ seq, refusal: result.refusal })
      continue
    }
    const { tip, objects } = result.applied
    applied.push({
      seq,
      commit: tip?.commit ?? null,
      tree: tip?.tree ?? null,
      parent: ground.place.tip?.commit ?? null,
    })
    ground.moveOn(result.applied)
    for (const object of objects) bytes += object.bytes.length
    if (isDeletion) break
  }
  return { tip: ground.place.tip, objects: [...ground.objects.objects()], applied, refused }
}

import { RefNames } from '../../git/refs/ref-conflicts.ts'
import type { BatchPart } from '../refs/plan.ts'
import { type RefSeq, reliesOnHead } from './landing.ts'
import type { LandingRun } from './landing-run.ts'

/** What one batch has done to the refs of a repository. */
interface Step {
  /** Seqs of the head before and after; the same where it has not moved. */
  readonly from: number | null
  readonly to: number | null
  /** All refs that it moved. */
  readonly refs: readonly RefSeq[]
  /** Those of them that relied on the head: they appeared, got their first loose record, or were packed. */
  readonly appeared: readonly RefSeq[]
}

/** Steps of one repository that are kept: pushes that arrive together are few. */
const MAX_STEPS = 64
/** Names in all of them. */
const MAX_NAMES = 4_096
const MAX_REPOSITORIES = 256

/**
 * What this writer has lately written, so that landings which arrive together, and all know the same, need not find out
 * by a failed write and three more requests what those before them have done.
 */
export class LandingLog {
  readonly #steps = new Map<string, Step[]>()

  /**
   * Brings a landing up to the newest head that is known to be as good as the one it has. That is sound as long as no
   * ref of the landing is among those that appeared in between, nor stands in the way of one (`a` of `a/b`).
   *
   * @returns false where the landing's view of its refs is known to be old: the account has to be read before it is tried
   */
  bringUp(run: LandingRun): boolean {
    const steps = this.#steps.get(run.landing.repo) ?? []
    if (steps.length === 0) return true
    const { pending } = run
    const known = new Map(pending.map(({ name, from }) => [name, from?.seq ?? 0]))
    if (steps.some(({ refs }) => refs.some(({ name, seq }) => seq > (known.get(name) ?? seq)))) return false
    const relying = pending.filter(reliesOnHead)
    if (relying.length === 0) return true
    const names = new RefNames(relying.map(({ name }) => name))
    for (const { from, to, appeared } of steps) {
      if (from === to || from !== run.head) continue
      if (appeared.some(({ name }) => names.conflictWith(name) !== null)) return false
      run.bringUp(to, appeared)
    }
    return true
  }

  /** Takes note of what a batch has done in one repository. @param before the head before it */
  note(repo: string, before: number | null, parts: readonly BatchPart[]): Step {
    const moved = parts.flatMap(({ moves }) => moves)
    const mover = parts.find(({ movesHead }) => movesHead)
    const step = {
      from: before,
      to: mover === undefined ? before : mover.head,
      refs: moved.map(({ state: { name, seq } }) => ({ name, seq })),
      appeared: moved.filter(({ move }) => reliesOnHead(move)).map(({ state: { name, seq } }) => ({ name, seq })),
    }
    const steps = [...(this.#steps.get(repo) ?? []), step]
    const names = () => steps.reduce((sum, { refs }) => sum + refs.length, 0)
    while (steps.length > MAX_STEPS || (steps.length > 0 && names() > MAX_NAMES)) steps.shift()
    this.#steps.delete(repo)
    this.#steps.set(repo, steps)
    if (this.#steps.size > MAX_REPOSITORIES) this.#steps.delete(this.#steps.keys().next().value!)
    return step
  }
}

import { type Landing, type LandingResult, reliesOnHead } from '../../atproto/account/landing.ts'
import { RefNames } from '../../git/refs/ref-conflicts.ts'

interface Step {
  readonly from: number
  readonly to: number
  /** Refs that appeared in it, got their first loose record, or were packed. */
  readonly names: readonly string[]
}

/** Steps of one repository that are kept: pushes that arrive together are few. */
const MAX_STEPS = 64
const MAX_REPOSITORIES = 256

/**
 * The moves of the head (see atproto/refs/merge.ts) that this account's own landings have made lately. Pushes that
 * arrive together and create different refs all know the same head; with this log each is brought up to the head that
 * the one before has left, in place of finding out by a failed write and three more requests.
 *
 * That is sound as long as no ref of the landing is among those that were created in between, nor stands in the way of
 * one (`a` of `a/b`).
 */
export class HeadLog {
  readonly #steps = new Map<string, Step[]>()

  /** The landing with the newest head that is known to be as good as the one it has. */
  bringUp(landing: Landing): Landing {
    const names = new RefNames(namesThatMoveHead(landing))
    let { head } = landing
    for (const step of this.#steps.get(landing.repo) ?? []) {
      if (step.from !== head) continue
      if (step.names.some((name) => names.has(name) || names.conflictWith(name) !== null)) break
      head = step.to
    }
    return head === landing.head ? landing : { ...landing, head }
  }

  /**
   * Takes note of a landing that was tried. What the mirror may take over as head is another matter: it can only be the
   * new one where the mirror knew the one before.
   */
  note(asked: Landing, tried: Landing, result: LandingResult): LandingResult {
    if (tried.head !== null && result.head !== null && result.head > tried.head && !result.isStale) {
      const steps = this.#steps.get(tried.repo) ?? []
      steps.push({ from: tried.head, to: result.head, names: namesThatMoveHead(tried) })
      if (steps.length > MAX_STEPS) steps.shift()
      this.#steps.delete(tried.repo)
      this.#steps.set(tried.repo, steps)
      if (this.#steps.size > MAX_REPOSITORIES) this.#steps.delete(this.#steps.keys().next().value!)
    }
    return tried.head === asked.head ? result : { ...result, head: asked.head, isStale: true }
  }
}

/** Whether a landing has to wait for those before it that move the head of its repository. */
export function movesHead(landing: Landing): boolean {
  return namesThatMoveHead(landing).length > 0
}

function namesThatMoveHead({ moves }: Landing): string[] {
  return moves.filter(reliesOnHead).map(({ name }) => name)
}

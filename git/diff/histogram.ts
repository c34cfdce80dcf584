import type { LineRange } from './changed-lines.ts'

/** A line that occurs more often in the old text is too frequent to split by. */
const MOST_OCCURRENCES = 64

const NOWHERE = 0xffffffff

/**
 * Finds where two texts are to be split: the longest run of common lines among those with the rarest line. After
 * JGit's HistogramDiff.
 */
export class HistogramIndex {
  /** Lines looked at so far. */
  steps = 0
  readonly #old: Uint32Array
  readonly #new: Uint32Array
  /** By the number of a line: how often it occurs in the old part, and where first. */
  readonly #counts: Uint32Array
  readonly #firsts: Uint32Array
  /** By place in the old text: where the same line occurs next in the part. */
  readonly #nexts: Uint32Array

  /** @param distinct how many different lines there are */
  constructor(old: Uint32Array, fresh: Uint32Array, distinct: number) {
    this.#old = old
    this.#new = fresh
    this.#counts = new Uint32Array(distinct)
    this.#firsts = new Uint32Array(distinct)
    this.#nexts = new Uint32Array(old.length)
  }

  /** @returns the run to split by; or that no line is common, or that all which are common are too frequent. */
  findCommon(range: LineRange): LineRange | 'none' | 'frequent' {
    this.#count(range)
    let best: LineRange | null = null
    let rarest = MOST_OCCURRENCES + 1
    let hasCommon = false
    for (let at = range.newStart; at < range.newEnd; ) {
      const number = this.#new[at]!
      const count = this.#counts[number]!
      let next = at + 1
      if (count > 0) hasCommon = true
      if (count > 0 && count <= rarest) {
        for (let old = this.#firsts[number]!; old !== NOWHERE; ) {
          const run = this.#extend(range, old, at)
          next = Math.max(next, run.newEnd)
          const length = best === null ? 1 : best.oldEnd - best.oldStart
          if (run.oldEnd - run.oldStart > length || run.rarest < rarest) {
            best = run
            rarest = run.rarest
          }
          // What lies in the run cannot start another.
          do old = this.#nexts[old]!
          while (old < run.oldEnd)
        }
      }
      this.steps += next - at
      at = next
    }
    if (!hasCommon) return 'none'
    return best === null || rarest > MOST_OCCURRENCES ? 'frequent' : best
  }

  #count({ oldStart, oldEnd, newStart, newEnd }: LineRange): void {
    for (let at = newStart; at < newEnd; at++) this.#counts[this.#new[at]!] = 0
    for (let at = oldStart; at < oldEnd; at++) this.#counts[this.#old[at]!] = 0
    for (let at = oldEnd - 1; at >= oldStart; at--) {
      const number = this.#old[at]!
      this.#nexts[at] = this.#counts[number] === 0 ? NOWHERE : this.#firsts[number]!
      this.#firsts[number] = at
      this.#counts[number]!++
    }
    this.steps += newEnd - newStart + oldEnd - oldStart
  }

  /** The common lines around a pair of equal lines, and how often the rarest of them occurs. */
  #extend(
    { oldStart, oldEnd, newStart, newEnd }: LineRange,
    oldAt: number,
    newAt: number,
  ): LineRange & { rarest: number } {
    let rarest = this.#counts[this.#old[oldAt]!]!
    let [from, newFrom] = [oldAt, newAt]
    while (from > oldStart && newFrom > newStart && this.#old[from - 1] === this.#new[newFrom - 1]) {
      from--
      newFrom--
      rarest = Math.min(rarest, this.#counts[this.#old[from]!]!)
    }
    let [to, newTo] = [oldAt + 1, newAt + 1]
    while (to < oldEnd && newTo < newEnd && this.#old[to] === this.#new[newTo]) {
      rarest = Math.min(rarest, this.#counts[this.#old[to]!]!)
      to++
      newTo++
    }
    this.steps += to - from
    return { oldStart: from, oldEnd: to, newStart: newFrom, newEnd: newTo, rarest }
  }
}

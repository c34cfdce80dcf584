import { type ChangedLines, createChangedLines, type LineRange, markChanged, type TextSide } from './changed-lines.ts'

/**
 * How many differences a search may find before the texts are split where it has come furthest, though a shorter way may
 * exist. It bounds the time to this times the lines.
 */
const MOST_DIFFERENCES = 256

/**
 * Marks what differs in a range by Myers' algorithm in linear space (An O(ND) Difference Algorithm and Its
 * Variations, 1986): the shortest edit, but for texts that differ in very much. Lines that would only confuse it are
 * taken for changed beforehand.
 */
export function diffByMyers(changed: ChangedLines, range: LineRange): void {
  const rest = withoutCommonEnds(changed, range)
  const places = {
    old: telling(changed.old, changed.new, rest.oldStart, rest.oldEnd, range.newStart, range.newEnd),
    new: telling(changed.new, changed.old, rest.newStart, rest.newEnd, range.oldStart, range.oldEnd),
  }
  markChanged(changed, rest)
  const kept = createChangedLines(
    places.old.map((place) => changed.old.numbers[place]!),
    places.new.map((place) => changed.new.numbers[place]!),
  )
  search(kept)
  for (const side of ['old', 'new'] as const) {
    for (const [i, place] of places[side].entries()) changed[side].isChanged[place] = kept[side].isChanged[i]!
  }
}

/** Marks what differs between two texts. */
function search(changed: ChangedLines): void {
  const whole = { oldStart: 0, oldEnd: changed.old.numbers.length, newStart: 0, newEnd: changed.new.numbers.length }
  const middle = new MiddleSearch(changed.old.numbers, changed.new.numbers)
  const ranges = [whole]
  for (let next = ranges.pop(); next !== undefined; next = ranges.pop()) {
    const rest = withoutCommonEnds(changed, next)
    if (rest.oldStart === rest.oldEnd || rest.newStart === rest.newEnd) {
      markChanged(changed, rest)
      continue
    }
    const { old, new: fresh } = middle.find(rest)
    ranges.push({ ...rest, oldStart: old, newStart: fresh }, { ...rest, oldEnd: old, newEnd: fresh })
  }
}

function withoutCommonEnds({ old, new: fresh }: ChangedLines, range: LineRange): LineRange {
  let { oldStart, oldEnd, newStart, newEnd } = range
  while (oldStart < oldEnd && newStart < newEnd && old.numbers[oldStart] === fresh.numbers[newStart]) {
    oldStart++
    newStart++
  }
  while (oldStart < oldEnd && newStart < newEnd && old.numbers[oldEnd - 1] === fresh.numbers[newEnd - 1]) {
    oldEnd--
    newEnd--
  }
  return { oldStart, oldEnd, newStart, newEnd }
}

/** What the other text has of a line: nothing, some, or so many that nothing can be told from it. */
const NO_MATCH = 0
const SOME_MATCHES = 1
const MANY_MATCHES = 2

/** From how many on matches are many, at most; else the root of the lines. */
const MANY_LIMIT = 1024
/** How far around a line is looked. */
const WINDOW = 100

/**
 * The places from `start` up to `end` of lines that tell where the texts belong together: not those that the other
 * text lacks, and not those that it has very often where they stand amid such (as blank lines in a part that is new).
 * (GNU diff's `discard_confusing_lines`.)
 */
function telling(
  { numbers }: TextSide,
  other: TextSide,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): Uint32Array {
  const counts = new Map<number, number>()
  for (let at = otherStart; at < otherEnd; at++) {
    const number = other.numbers[at]!
    counts.set(number, (counts.get(number) ?? 0) + 1)
  }
  const many = Math.min(roundedRoot(end - start), MANY_LIMIT)
  const matches = Uint8Array.from({ length: end - start }, (_, i) => {
    const count = counts.get(numbers[start + i]!) ?? 0
    return count === 0 ? NO_MATCH : count >= many ? MANY_MATCHES : SOME_MATCHES
  })
  const places = new Uint32Array(end - start)
  let kept = 0
  for (let i = 0; i < matches.length; i++) {
    if (matches[i] === NO_MATCH || (matches[i] === MANY_MATCHES && isAmidOthers(matches, i))) continue
    places[kept++] = start + i
  }
  return places.subarray(0, kept)
}

/** A power of two that is near the square root. */
function roundedRoot(value: number): number {
  let root = 1
  for (let rest = value; rest > 0; rest >>= 2) root *= 2
  return root
}

/** Whether lines without a match stand on both sides, and most around are such. */
function isAmidOthers(matches: Uint8Array, at: number): boolean {
  let lacking = 0
  // The line itself, once for each side.
  let frequent = 2
  for (const step of [-1, 1]) {
    const before = lacking
    for (let i = at + step; i >= 0 && i < matches.length && Math.abs(i - at) <= WINDOW; i += step) {
      if (matches[i] === SOME_MATCHES) break
      if (matches[i] === NO_MATCH) lacking++
      else frequent++
    }
    if (lacking === before) return false
  }
  return frequent * 4 < frequent + lacking
}

interface Middle {
  readonly old: number
  readonly new: number
}

/**
 * Finds a place in the middle of a shortest edit: from both ends at once, the furthest place on each diagonal (old
 * minus new) that so many differences reach, until the two meet.
 */
class MiddleSearch {
  readonly #old: Uint32Array
  readonly #new: Uint32Array
  /** By diagonal, the furthest place in the old text from the start, and from the end. */
  readonly #forward: Int32Array
  readonly #backward: Int32Array
  /** What is added to a diagonal to find it in the tables. */
  readonly #shift: number

  constructor(old: Uint32Array, fresh: Uint32Array) {
    this.#old = old
    this.#new = fresh
    const diagonals = old.length + fresh.length + 3
    this.#forward = new Int32Array(diagonals)
    this.#backward = new Int32Array(diagonals)
    this.#shift = fresh.length + 1
  }

  /** @param range whose first lines differ, and whose last lines differ */
  find(range: LineRange): Middle {
    const { oldStart, oldEnd, newStart, newEnd } = range
    const forward = this.#forward
    const backward = this.#backward
    const shift = this.#shift
    // All diagonals of the range; a search that leaves it comes back from nowhere.
    const lowest = oldStart - newEnd
    const highest = oldEnd - newStart
    const start = oldStart - newStart
    const end = oldEnd - newEnd
    const isOdd = ((start - end) & 1) !== 0
    forward[start + shift] = oldStart
    backward[end + shift] = oldEnd
    let [forwardLow, forwardHigh, backwardLow, backwardHigh] = [start, start, end, end]
    for (let differences = 1; ; differences++) {
      if (forwardLow > lowest) forward[--forwardLow - 1 + shift] = -1
      else forwardLow++
      if (forwardHigh < highest) forward[++forwardHigh + 1 + shift] = -1
      else forwardHigh--
      for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
        const below = forward[diagonal - 1 + shift]!
        const above = forward[diagonal + 1 + shift]!
        let old = below >= above ? below + 1 : above
        let fresh = old - diagonal
        while (old < oldEnd && fresh < newEnd && this.#old[old] === this.#new[fresh]) {
          old++
          fresh++
        }
        forward[diagonal + shift] = old
        if (isOdd && diagonal >= backwardLow && diagonal <= backwardHigh && backward[diagonal + shift]! <= old) {
          return { old, new: fresh }
        }
      }
      if (backwardLow > lowest) backward[--backwardLow - 1 + shift] = FAR
      else backwardLow++
      if (backwardHigh < highest) backward[++backwardHigh + 1 + shift] = FAR
      else backwardHigh--
      for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
        const below = backward[diagonal - 1 + shift]!
        const above = backward[diagonal + 1 + shift]!
        let old = below < above ? below : above - 1
        let fresh = old - diagonal
        while (old > oldStart && fresh > newStart && this.#old[old - 1] === this.#new[fresh - 1]) {
          old--
          fresh--
        }
        backward[diagonal + shift] = old
        if (!isOdd && diagonal >= forwardLow && diagonal <= forwardHigh && old <= forward[diagonal + shift]!) {
          return { old, new: fresh }
        }
      }
      if (differences >= MOST_DIFFERENCES) return this.#furthest(range, forwardLow, forwardHigh)
    }
  }

  /** The place that is furthest from the start, of those reached so far. */
  #furthest({ oldEnd, newEnd }: LineRange, low: number, high: number): Middle {
    let best = { old: -1, new: -1 }
    for (let diagonal = high; diagonal >= low; diagonal -= 2) {
      const old = Math.min(this.#forward[diagonal + this.#shift]!, oldEnd, newEnd + diagonal)
      if (old - diagonal + old > best.old + best.new) best = { old, new: old - diagonal }
    }
    return best
  }
}

/** Behind the end of every text. */
const FAR = 0x7fffffff

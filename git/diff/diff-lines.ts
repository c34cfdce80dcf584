import { type ChangedLines, createChangedLines, type LineRange, markChanged } from './changed-lines.ts'
import { compactChanges } from './compact-changes.ts'
import { HistogramIndex } from './histogram.ts'
import { diffByMyers } from './myers.ts'

/** Lines of the old text that lines of the new one have taken the place of; either may be none. */
export interface Hunk {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** What the search for rare lines may cost, in lines looked at. What is left then is compared by the other way, which has its own bound. */
const HISTOGRAM_STEPS = 20_000_000

/**
 * What differs between two texts, in order, with at least one common line between two hunks. The lines are those of
 * one {@link LineNumbers}.
 *
 * The way of `git diff --histogram`, which is what git merges by (after JGit's HistogramDiff): the longest run of
 * common lines that holds the rarest line splits the texts, and so do others what is left on both sides of it. Where all
 * common lines occur too often for that, Myers' way is taken.
 */
export function diffLines(old: Uint32Array, fresh: Uint32Array, distinct: number): Hunk[] {
  const changed = createChangedLines(old, fresh)
  const index = new HistogramIndex(old, fresh, distinct)
  const ranges: LineRange[] = [{ oldStart: 0, oldEnd: old.length, newStart: 0, newEnd: fresh.length }]
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const { oldStart, oldEnd, newStart, newEnd } = range
    if (oldStart === oldEnd || newStart === newEnd) {
      markChanged(changed, range)
      continue
    }
    const common = index.steps > HISTOGRAM_STEPS ? 'frequent' : index.findCommon(range)
    if (common === 'none') markChanged(changed, range)
    else if (common === 'frequent') diffByMyers(changed, range)
    else {
      ranges.push({ oldStart: common.oldEnd, oldEnd, newStart: common.newEnd, newEnd })
      ranges.push({ oldStart, oldEnd: common.oldStart, newStart, newEnd: common.newStart })
    }
  }
  compactChanges(changed)
  return hunksOf(changed)
}

function hunksOf({ old, new: fresh }: ChangedLines): Hunk[] {
  const hunks: Hunk[] = []
  for (let oldAt = 0, newAt = 0; oldAt < old.numbers.length || newAt < fresh.numbers.length; ) {
    const oldStart = oldAt
    const newStart = newAt
    while (old.isChanged[oldAt] === 1) oldAt++
    while (fresh.isChanged[newAt] === 1) newAt++
    if (oldAt > oldStart || newAt > newStart) hunks.push({ oldStart, oldEnd: oldAt, newStart, newEnd: newAt })
    oldAt++
    newAt++
  }
  return hunks
}

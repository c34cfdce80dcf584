import { diffLines, type Hunk } from '../../../git/diff/diff-lines.ts'
import { LineNumbers } from '../../../git/diff/text-lines.ts'
import { CONTEXT_LINES, groupHunks } from '../../../git/diff/unified.ts'
import { decodeText } from '../../../git/object/text.ts'
import { highlightLines } from './highlight.ts'
import { likeness, markWords, textOf, wordsOf } from './word-marks.ts'

/** A line of one side. */
export interface DiffLine {
  /** Counted from 1. */
  readonly number: number
  /** Safe HTML; words that differ from the line beside it are in `<mark>`. */
  readonly html: string
  /** The last line of a file that does not end in a line break. */
  readonly isUnended: boolean
}

/** What stands side by side: a line that both sides have, one that has become another, or one with nothing beside it. */
export interface DiffRow {
  readonly isChanged: boolean
  readonly old: DiffLine | null
  readonly new: DiffLine | null
}

/** Changes and the lines around them. */
export interface DiffSection {
  /** First lines, counted from 1, and how many lines there are. Of none, the first is the line before. */
  readonly old: { readonly start: number; readonly count: number }
  readonly new: { readonly start: number; readonly count: number }
  readonly rows: readonly DiffRow[]
}

/** A row of the view with one column. */
export interface UnifiedRow {
  readonly kind: 'common' | 'deleted' | 'added'
  readonly old: number | null
  readonly new: number | null
  readonly html: string
  readonly isUnended: boolean
}

/** Longer texts are not highlighted for the few lines of them that are shown, in UTF-16 units. */
const HIGHLIGHTED_LENGTH = 64 * 1024

/** In more lines on either side, none is looked for that has become another: each is compared with each. */
const MOST_MATCHED = 40

/**
 * What differs between two texts, as `git diff` shows it, for both views.
 *
 * @param language its id, to highlight by; null for plain text
 */
export function diffSections(
  old: Uint8Array,
  fresh: Uint8Array,
  language: string | null,
  context = CONTEXT_LINES,
): DiffSection[] {
  const numbers = new LineNumbers()
  const [oldLines, newLines] = [numbers.split(old), numbers.split(fresh)]
  const hunks = diffLines(oldLines.numbers, newLines.numbers, numbers.size)
  if (hunks.length === 0) return []
  const [oldText, newText] = [decodeText(old), decodeText(fresh)]
  // Where one side's lines end otherwise than the other's, that is what has changed, and is to be seen.
  const isShown = oldText.includes('\r\n') !== newText.includes('\r\n')
  const show = (text: string) => showSide(isShown ? text.replaceAll('\r\n', '\u240d\n') : text, language)
  const sides = { old: show(oldText), new: show(newText) }
  return groupHunks(hunks, context).map((group) => section(group, sides, context))
}

/** The rows of a section one below the other: of changed ones first those that are gone. */
export function unifiedRows({ rows }: DiffSection): UnifiedRow[] {
  const out: UnifiedRow[] = []
  let added: UnifiedRow[] = []
  for (const { isChanged, old, new: fresh } of rows) {
    if (!isChanged) {
      out.push(...added, { ...old!, kind: 'common', old: old!.number, new: fresh!.number })
      added = []
      continue
    }
    if (old !== null) out.push({ ...old, kind: 'deleted', old: old.number, new: null })
    if (fresh !== null) added.push({ ...fresh, kind: 'added', old: null, new: fresh.number })
  }
  return [...out, ...added].map(({ kind, old, new: fresh, html, isUnended }) => ({
    kind,
    old,
    new: fresh,
    html,
    isUnended,
  }))
}

interface Sides {
  readonly old: readonly DiffLine[]
  readonly new: readonly DiffLine[]
}

function showSide(text: string, language: string | null): DiffLine[] {
  const { lines } = highlightLines(text, text.length > HIGHLIGHTED_LENGTH ? null : language)
  const isEnded = text.endsWith('\n')
  return lines.map((html, at) => ({ number: at + 1, html, isUnended: !isEnded && at === lines.length - 1 }))
}

function section(group: readonly Hunk[], sides: Sides, context: number): DiffSection {
  const [first, last] = [group[0]!, group.at(-1)!]
  const before = Math.min(context, first.oldStart)
  const after = Math.min(context, sides.old.length - last.oldEnd)
  const rows: DiffRow[] = []
  let [oldAt, newAt] = [first.oldStart - before, first.newStart - before]
  const [oldStart, newStart] = [oldAt, newAt]
  const pushCommon = (end: number) => {
    for (; oldAt < end; oldAt++, newAt++)
      rows.push({ isChanged: false, old: sides.old[oldAt]!, new: sides.new[newAt]! })
  }
  for (const hunk of group) {
    pushCommon(hunk.oldStart)
    rows.push(...changedRows(sides.old.slice(oldAt, hunk.oldEnd), sides.new.slice(newAt, hunk.newEnd)))
    oldAt = hunk.oldEnd
    newAt = hunk.newEnd
  }
  pushCommon(last.oldEnd + after)
  return { old: range(oldStart, oldAt), new: range(newStart, newAt), rows }
}

function range(start: number, end: number): { start: number; count: number } {
  return { start: end === start ? start : start + 1, count: end - start }
}

function changedRows(old: readonly DiffLine[], fresh: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = []
  let [oldAt, newAt] = [0, 0]
  for (const [oldMatch, newMatch] of [...matches(old, fresh), [old.length, fresh.length] as const]) {
    for (; oldAt < oldMatch || newAt < newMatch; ) {
      const gone = oldAt < oldMatch ? old[oldAt++]! : null
      const come = newAt < newMatch ? fresh[newAt++]! : null
      rows.push({ isChanged: true, old: gone, new: come })
    }
    if (oldMatch === old.length || newMatch === fresh.length) continue
    const [gone, come] = [old[oldAt++]!, fresh[newAt++]!]
    const marked = markWords(gone.html, come.html)
    rows.push({
      isChanged: true,
      old: marked === null ? gone : { ...gone, html: marked.old },
      new: marked === null ? come : { ...come, html: marked.new },
    })
  }
  return rows
}

/** Which line has become which: as many of them as are most alike, in order; where equally many came as went, each the one beside it. */
function matches(old: readonly DiffLine[], fresh: readonly DiffLine[]): (readonly [number, number])[] {
  if (old.length === fresh.length) return old.map((_, at) => [at, at] as const)
  if (old.length > MOST_MATCHED || fresh.length > MOST_MATCHED) return []
  const words = (line: DiffLine) => wordsOf(textOf(line.html))
  const [oldWords, newWords] = [old.map(words), fresh.map(words)]
  // The best sum of likeness from each pair of places on; those under a half do not count.
  const best = Array.from({ length: old.length + 1 }, () => new Float64Array(fresh.length + 1))
  const alike = oldWords.map((a) => newWords.map((b) => likeness(a, b)))
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const score = alike[i]![j]! < 0.5 ? 0 : alike[i]![j]!
      best[i]![j] = Math.max(best[i + 1]![j]!, best[i]![j + 1]!, best[i + 1]![j + 1]! + score)
    }
  }
  const found: (readonly [number, number])[] = []
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    if (best[i]![j] === best[i + 1]![j]) i++
    else if (best[i]![j] === best[i]![j + 1]) j++
    else found.push([i++, j++] as const)
  }
  return found
}

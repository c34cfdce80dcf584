import { concatBytes } from '../bytes/concat.ts'
import { diffLines, type Hunk } from './diff-lines.ts'
import { LineNumbers, type TextLines, viewLines } from './text-lines.ts'

/** Lines that are shown around a change, as `git diff` does by default. */
export const CONTEXT_LINES = 3

const encoder = new TextEncoder()
const ADDED = encoder.encode('+')
const DELETED = encoder.encode('-')
const COMMON = encoder.encode(' ')
const NO_NEWLINE = encoder.encode('\n\\ No newline at end of file\n')
const LF = 0x0a

/** The hunks of the unified format, `@@ … @@` and lines, byte by byte those of `git diff --histogram` without section headings. */
export function unifiedHunks(old: Uint8Array, fresh: Uint8Array, context = CONTEXT_LINES): Uint8Array {
  const numbers = new LineNumbers()
  const sides = { old: numbers.split(old), new: numbers.split(fresh) }
  const hunks = diffLines(sides.old.numbers, sides.new.numbers, numbers.size)
  return concatBytes(groupHunks(hunks, context).flatMap((group) => writeGroup(group, sides, context)))
}

interface Sides {
  readonly old: TextLines
  readonly new: TextLines
}

/** Hunks whose contexts touch or overlap are shown as one. */
export function groupHunks(hunks: readonly Hunk[], context: number): Hunk[][] {
  const groups: Hunk[][] = []
  for (const hunk of hunks) {
    const before = groups.at(-1)?.at(-1)
    if (before !== undefined && hunk.oldStart - before.oldEnd <= 2 * context) groups.at(-1)!.push(hunk)
    else groups.push([hunk])
  }
  return groups
}

function writeGroup(group: readonly Hunk[], { old, new: fresh }: Sides, context: number): Uint8Array[] {
  const first = group[0]!
  const last = group.at(-1)!
  const before = Math.min(context, first.oldStart)
  const after = Math.min(context, old.numbers.length - last.oldEnd)
  const oldStart = first.oldStart - before
  const oldEnd = last.oldEnd + after
  const heading = `@@ -${range(oldStart, oldEnd)} +${range(first.newStart - before, last.newEnd + after)} @@\n`
  const parts = [encoder.encode(heading)]
  let at = oldStart
  for (const hunk of group) {
    pushLines(parts, COMMON, old, at, hunk.oldStart)
    pushLines(parts, DELETED, old, hunk.oldStart, hunk.oldEnd)
    pushLines(parts, ADDED, fresh, hunk.newStart, hunk.newEnd)
    at = hunk.oldEnd
  }
  pushLines(parts, COMMON, old, at, oldEnd)
  return parts
}

/** Counted from 1; of no lines, the line before. */
function range(start: number, end: number): string {
  const count = end - start
  if (count === 1) return `${start + 1}`
  return `${count === 0 ? start : start + 1},${count}`
}

function pushLines(parts: Uint8Array[], sign: Uint8Array, text: TextLines, start: number, end: number): void {
  for (let line = start; line < end; line++) {
    const bytes = viewLines(text, line, line + 1)
    parts.push(sign, bytes)
    if (bytes.at(-1) !== LF) parts.push(NO_NEWLINE)
  }
}

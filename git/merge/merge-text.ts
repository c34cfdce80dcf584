import { concatBytes } from '../bytes/concat.ts'
import { diffLines, type Hunk } from '../diff/diff-lines.ts'
import { endsInCrLf, LineNumbers, type TextLines, viewLines } from '../diff/text-lines.ts'

/** What stands behind the markers of a conflict: mostly names of branches. */
export interface MergeLabels {
  readonly ours: string
  readonly theirs: string
}

export interface MergedText {
  /** With both sides between markers where they conflict. */
  readonly bytes: Uint8Array
  readonly conflicts: number
}

/** How many characters a marker has: `<<<<<<<`. */
export const MARKER_SIZE = 7

/** Conflicts with so few common lines between them are shown as one. */
const JOINED_GAP = 3

/** Lines of both sides that have the same place: one side's change, or two changes that do not agree. */
interface Region {
  kind: 'ours' | 'theirs' | 'conflict'
  readonly oursStart: number
  oursEnd: number
  readonly theirsStart: number
  theirsEnd: number
}

/**
 * Merges two texts that were made from one, line by line, as git does: the changes of both are taken, and where they
 * touch or overlap and are not the same there is a conflict. A conflict holds no more than what differs between the sides.
 *
 * @param base empty where there is none
 */
export function mergeText(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  labels: MergeLabels,
  markerSize = MARKER_SIZE,
): MergedText {
  const numbers = new LineNumbers()
  const sides = { base: numbers.split(base), ours: numbers.split(ours), theirs: numbers.split(theirs) }
  const found = findRegions(sides, numbers.size)
  const refined = found.flatMap((region) => refine(region, sides))
  const regions = joinNearConflicts(refined)
  const markers = new Markers(labels, markerSize)
  return {
    bytes: concatBytes(writeRegions(regions, sides, markers)),
    conflicts: regions.filter(({ kind }) => kind === 'conflict').length,
  }
}

interface Sides {
  readonly base: TextLines
  readonly ours: TextLines
  readonly theirs: TextLines
}

function findRegions({ base, ours, theirs }: Sides, distinct: number): Region[] {
  const oursHunks = diffLines(base.numbers, ours.numbers, distinct)
  const theirsHunks = diffLines(base.numbers, theirs.numbers, distinct)
  const regions: Region[] = []
  let i = 0
  let j = 0
  while (i < oursHunks.length || j < theirsHunks.length) {
    const our = oursHunks[i] ?? endHunk(base, ours)
    const their = theirsHunks[j] ?? endHunk(base, theirs)
    if (j === theirsHunks.length || our.oldEnd < their.oldStart) {
      const shift = their.newStart - their.oldStart
      append(regions, regionOf('ours', our.newStart, our.newEnd, our.oldStart + shift, our.oldEnd + shift))
      i++
    } else if (i === oursHunks.length || their.oldEnd < our.oldStart) {
      const shift = our.newStart - our.oldStart
      append(regions, regionOf('theirs', their.oldStart + shift, their.oldEnd + shift, their.newStart, their.newEnd))
      j++
    } else {
      if (!areSame(our, their, ours, theirs)) append(regions, conflictOf(our, their))
      // The one that reaches further may meet another.
      const difference = our.oldEnd - their.oldEnd
      if (difference <= 0) i++
      if (difference >= 0) j++
    }
  }
  return regions
}

function regionOf(
  kind: Region['kind'],
  oursStart: number,
  oursEnd: number,
  theirsStart: number,
  theirsEnd: number,
): Region {
  return { kind, oursStart, oursEnd, theirsStart, theirsEnd }
}

/** Where a side has no more changes, its lines lie as far from the base's as at the end. */
function endHunk(base: TextLines, side: TextLines): Hunk {
  const oldEnd = base.numbers.length
  const newEnd = side.numbers.length
  return { oldStart: oldEnd, oldEnd, newStart: newEnd, newEnd }
}

/** Both hunks, each widened to what either covers of the base. */
function conflictOf(our: Hunk, their: Hunk): Region {
  const start = Math.min(our.oldStart, their.oldStart)
  const end = Math.max(our.oldEnd, their.oldEnd)
  return regionOf(
    'conflict',
    our.newStart - (our.oldStart - start),
    our.newEnd + (end - our.oldEnd),
    their.newStart - (their.oldStart - start),
    their.newEnd + (end - their.oldEnd),
  )
}

function areSame(our: Hunk, their: Hunk, ours: TextLines, theirs: TextLines): boolean {
  const length = our.newEnd - our.newStart
  if (our.oldStart !== their.oldStart || our.oldEnd !== their.oldEnd || length !== their.newEnd - their.newStart) {
    return false
  }
  for (let i = 0; i < length; i++) {
    if (ours.numbers[our.newStart + i] !== theirs.numbers[their.newStart + i]) return false
  }
  return true
}

/** Adds a region, or makes the last one larger if they touch. */
function append(regions: Region[], region: Region): void {
  const last = regions.at(-1)
  if (last === undefined || (region.oursStart > last.oursEnd && region.theirsStart > last.theirsEnd)) {
    regions.push(region)
    return
  }
  if (region.kind !== last.kind) last.kind = 'conflict'
  last.oursEnd = region.oursEnd
  last.theirsEnd = region.theirsEnd
}

/** Leaves out of a conflict what both sides have. */
function refine(region: Region, { ours, theirs }: Sides): Region[] {
  const { kind, oursStart, oursEnd, theirsStart, theirsEnd } = region
  if (kind !== 'conflict' || oursStart === oursEnd || theirsStart === theirsEnd) return [region]
  // There may be thousands of conflicts: each must cost no more than its own lines.
  const numbers = new Map<number, number>()
  const renumber = (number: number) => {
    const known = numbers.get(number) ?? numbers.size
    numbers.set(number, known)
    return known
  }
  const our = ours.numbers.subarray(oursStart, oursEnd).map(renumber)
  const their = theirs.numbers.subarray(theirsStart, theirsEnd).map(renumber)
  return diffLines(our, their, numbers.size).map(({ oldStart, oldEnd, newStart, newEnd }) =>
    regionOf('conflict', oursStart + oldStart, oursStart + oldEnd, theirsStart + newStart, theirsStart + newEnd),
  )
}

function joinNearConflicts(regions: readonly Region[]): Region[] {
  const joined: Region[] = []
  for (const region of regions) {
    const last = joined.at(-1)
    const isNear =
      last?.kind === 'conflict' && region.kind === 'conflict' && region.oursStart - last.oursEnd <= JOINED_GAP
    if (isNear) {
      last.oursEnd = region.oursEnd
      last.theirsEnd = region.theirsEnd
    } else joined.push({ ...region })
  }
  return joined
}

function writeRegions(regions: readonly Region[], sides: Sides, markers: Markers): Uint8Array[] {
  const { ours, theirs } = sides
  const parts: Uint8Array[] = []
  let at = 0
  for (const region of regions) {
    const { kind, oursStart, oursEnd, theirsStart, theirsEnd } = region
    if (kind === 'ours') continue
    parts.push(viewLines(ours, at, oursStart))
    at = oursEnd
    if (kind === 'theirs') parts.push(viewLines(theirs, theirsStart, theirsEnd))
    else {
      const lineBreak = lineBreakAt(region, sides)
      parts.push(markers.ours, lineBreak, ...endedLines(ours, oursStart, oursEnd, lineBreak))
      parts.push(markers.between, lineBreak, ...endedLines(theirs, theirsStart, theirsEnd, lineBreak))
      parts.push(markers.theirs, lineBreak)
    }
  }
  parts.push(viewLines(ours, at, ours.numbers.length))
  return parts
}

const LINE_BREAK = Uint8Array.of(0x0a)
const CR_LF = Uint8Array.of(0x0d, 0x0a)

/** Lines of which the last has a line break even where a text ends without. */
function endedLines(text: TextLines, start: number, end: number, lineBreak: Uint8Array): Uint8Array[] {
  const lines = viewLines(text, start, end)
  return start < end && endsInCrLf(text, end - 1) === null ? [lines, lineBreak] : [lines]
}

/** What the markers end in: CR LF where the base does, and neither side ends the lines before the conflict otherwise. */
function lineBreakAt({ oursStart, theirsStart }: Region, { base, ours, theirs }: Sides): Uint8Array {
  if (crLfNear(ours, oursStart) === false || crLfNear(theirs, theirsStart) === false) return LINE_BREAK
  return crLfNear(base, 0) === true ? CR_LF : LINE_BREAK
}

/** Whether the line before `line`, or the first, ends in CR LF; null where that cannot be told. */
function crLfNear(text: TextLines, line: number): boolean | null {
  if (text.numbers.length === 0) return null
  const near = Math.max(0, line - 1)
  const uses = endsInCrLf(text, near)
  return uses === null && near > 0 ? endsInCrLf(text, near - 1) : uses
}

class Markers {
  readonly ours: Uint8Array
  readonly between: Uint8Array
  readonly theirs: Uint8Array

  constructor(labels: MergeLabels, size: number) {
    const marker = (sign: string, label: string) =>
      new TextEncoder().encode(label === '' ? sign.repeat(size) : `${sign.repeat(size)} ${label}`)
    this.ours = marker('<', labels.ours)
    this.between = marker('=', '')
    this.theirs = marker('>', labels.theirs)
  }
}

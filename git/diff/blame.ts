import type { Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB } from '../object/object-type.ts'
import { readObject } from '../object/read-object.ts'
import { CommitQueue } from '../walk/commit-queue.ts'
import { diffLines } from './diff-lines.ts'
import { firstParents, PathLookUp } from './path-look-up.ts'
import { LineNumbers } from './text-lines.ts'

/** How much may be looked at. */
export interface BlameLimits {
  /** Commits. */
  readonly examine: number
  /** Versions of the file that are compared. */
  readonly versions: number
  /** Bytes of one version: a larger one ends the walk. */
  readonly fileBytes: number
}

export const BLAME_LIMITS: BlameLimits = { examine: 5_000, versions: 400, fileBytes: 1024 * 1024 }

/** Lines that one commit brought in. */
export interface BlamedLines {
  /** First line, from 0. */
  readonly start: number
  /** The line after the last one. */
  readonly end: number
  /** Number of the graph. */
  readonly commit: number
  /** False: the walk came to its limits at this commit, and the lines are as old or older. */
  readonly isKnown: boolean
}

/** Lines of a version, and where they stand in the one that was asked for. */
interface Suspect {
  readonly start: number
  readonly end: number
  readonly shownAt: number
}

/**
 * Who brought in each line of a file, as `git blame` without following renames: lines that a parent has go on to it, the
 * first one first, and those that none has are the commit's own.
 *
 * @param path of a file that stands in `from`
 * @returns in the order of the lines
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}
 */
export async function blame(
  graph: CommitGraph,
  source: ObjectSource,
  from: number,
  path: Uint8Array,
  limits: BlameLimits = BLAME_LIMITS,
): Promise<BlamedLines[]> {
  const versions = new Versions(graph, source, path, limits)
  const queue = new CommitQueue(graph, [from])
  const waiting = new Map<number, Suspect[]>()
  const blamed: BlamedLines[] = []
  const accuse = (commit: number, suspects: readonly Suspect[], isKnown: boolean) => {
    for (const { start, end, shownAt } of suspects) {
      blamed.push({ start: shownAt, end: shownAt + end - start, commit, isKnown })
    }
  }
  const first = await versions.lines(await versions.find(from))
  if (first === null) return []
  waiting.set(from, [{ start: 0, end: first.length, shownAt: 0 }])
  for (let examined = 0; queue.size > 0; examined++) {
    const commit = queue.pop()
    const suspects = waiting.get(commit)!
    waiting.delete(commit)
    if (examined >= limits.examine || versions.isSpent) {
      accuse(commit, suspects, false)
      continue
    }
    const handed = await handOn(versions, commit, [...graph.parents(commit)], suspects)
    for (const { parent, suspects: theirs } of handed.parents) {
      waiting.set(parent, [...(waiting.get(parent) ?? []), ...theirs])
      queue.push(parent)
    }
    accuse(commit, handed.own, true)
  }
  return joinNeighbours(blamed.toSorted((a, b) => a.start - b.start))
}

interface Handed {
  readonly parents: readonly { readonly parent: number; readonly suspects: readonly Suspect[] }[]
  readonly own: readonly Suspect[]
}

async function handOn(
  versions: Versions,
  commit: number,
  parents: readonly number[],
  suspects: readonly Suspect[],
): Promise<Handed> {
  await versions.lookUp([commit, ...parents])
  const here = await versions.find(commit)
  const theirs = await Promise.all(parents.map((parent) => versions.find(parent)))
  const same = theirs.indexOf(here)
  if (same !== -1) return { parents: [{ parent: parents[same]!, suspects }], own: [] }
  const ours = await versions.lines(here)
  const handed: { parent: number; suspects: Suspect[] }[] = []
  let own = suspects
  for (const [i, parent] of parents.entries()) {
    const lines = await versions.lines(theirs[i]!)
    if (lines === null || ours === null || own.length === 0) continue
    const { common, rest } = splitByDiff(own, diffLines(lines, ours, versions.distinct))
    if (common.length > 0) handed.push({ parent, suspects: common })
    own = rest
  }
  return { parents: handed, own }
}

/** Which of the lines are in the old text too, as lines of that, and which are not. */
function splitByDiff(suspects: readonly Suspect[], hunks: ReturnType<typeof diffLines>) {
  const common: Suspect[] = []
  const rest: Suspect[] = []
  for (const { start, end, shownAt } of suspects) {
    const put = (to: Suspect[], from: number, until: number, shift: number) => {
      if (from < until) to.push({ start: from + shift, end: until + shift, shownAt: shownAt + from - start })
    }
    let at = start
    let shift = 0
    for (const { oldEnd, newStart, newEnd } of hunks) {
      if (newStart >= end) break
      if (newEnd > at || newStart >= at) {
        put(common, at, Math.max(at, newStart), shift)
        put(rest, Math.max(at, newStart), Math.min(end, newEnd), 0)
        at = Math.max(at, Math.min(end, newEnd))
      }
      shift = oldEnd - newEnd
    }
    put(common, at, end, shift)
  }
  return { common, rest }
}

function joinNeighbours(lines: readonly BlamedLines[]): BlamedLines[] {
  const joined: BlamedLines[] = []
  for (const next of lines) {
    const last = joined.at(-1)
    if (last?.end === next.start && last.commit === next.commit && last.isKnown === next.isKnown) {
      joined[joined.length - 1] = { ...last, end: next.end }
    } else joined.push(next)
  }
  return joined
}

/** One file in many commits. */
class Versions {
  readonly #graph: CommitGraph
  readonly #source: ObjectSource
  readonly #lookUp: PathLookUp
  readonly #limits: BlameLimits
  readonly #numbers = new LineNumbers()
  readonly #lines = new Map<Oid, Promise<Uint32Array | null>>()
  #isSpent = false

  constructor(graph: CommitGraph, source: ObjectSource, path: Uint8Array, limits: BlameLimits) {
    this.#graph = graph
    this.#source = source
    this.#lookUp = new PathLookUp(source, path)
    this.#limits = limits
  }

  /** Whether no more is to be looked at. */
  get isSpent(): boolean {
    return this.#isSpent || this.#lines.size >= this.#limits.versions
  }

  /** How many different lines there are in all versions that were read. */
  get distinct(): number {
    return this.#numbers.size
  }

  /** Finds the file in these commits, and in some that come after them. */
  async lookUp(commits: readonly number[]): Promise<void> {
    const trees = commits.map((commit) => this.#graph.tree(commit))
    if (this.#lookUp.hasAll(trees)) return
    const ahead = firstParents(this.#graph, commits.at(1)).map((commit) => this.#graph.tree(commit))
    await this.#lookUp.all([...trees, ...ahead])
  }

  /** The file's blob, or null where the path is none. */
  async find(commit: number): Promise<Oid | null> {
    const [found] = await this.#lookUp.all([this.#graph.tree(commit)])
    const [mode, oid] = found!.split(' ')
    return oid === undefined || isDirectory(Number(mode)) || isGitlink(Number(mode)) ? null : oid
  }

  /** Its lines by their numbers; null: there is none, or it is too large to be compared. */
  lines(oid: Oid | null): Promise<Uint32Array | null> {
    if (oid === null) return Promise.resolve(null)
    const known = this.#lines.get(oid)
    if (known !== undefined) return known
    const lines = this.#read(oid)
    this.#lines.set(oid, lines)
    return lines
  }

  async #read(oid: Oid): Promise<Uint32Array | null> {
    const stat = await this.#source.stat(oid)
    if (stat !== null && stat.size > this.#limits.fileBytes) {
      this.#isSpent = true
      return null
    }
    return this.#numbers.split(await readObject(this.#source, oid, BLOB)).numbers
  }
}

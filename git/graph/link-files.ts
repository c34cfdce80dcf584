import type { MemoryAccount } from '../bytes/memory-account.ts'
import type { Oid } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import type { CutParts } from '../pack/cut-parts.ts'
import type { KnownObjects } from './build-graph.ts'

/** Where the steps of linking keep what they have found. A name may be written again, with the same bytes. */
export interface LinkFiles {
  open(name: string, size: number): ByteRange
  write(name: string, bytes: Uint8Array): Promise<void>
  /** The graph of a part, see PackGraph. */
  writeGraph(part: number, file: Uint8Array): Promise<void>
}

export interface LinkLimits {
  /** What is read in one step: different ids that objects point at, and entries of trees. 28 and 8 bytes each. */
  readonly ids: number
  readonly children: number
  /** What is listed in one step: objects that are new in commits, and commits. 4 bytes each. */
  readonly listed: number
  readonly listedCommits: number
  /** Commits of all parts: they are in memory together, some 24 bytes each. */
  readonly commits: number
  /** Objects that are in no part and that those of the parts point at: in memory, 32 bytes each. */
  readonly others: number
}

export const LINK_LIMITS: LinkLimits = {
  ids: 250_000,
  children: 2_000_000,
  listed: 1_000_000,
  listedCommits: 50_000,
  commits: 1_250_000,
  others: 500_000,
}

export interface LinkInput {
  readonly parts: CutParts
  /** What the repository holds beside. */
  readonly known: KnownObjects | null
  readonly files: LinkFiles
  /** Where the buffers held are entered, and added up as the work goes on. */
  readonly memory: MemoryAccount
  /** Called now and then with what is done of the present pass over all objects, or all commits. */
  readonly onProgress?: (pass: 'objects' | 'commits', done: number, total: number) => void
  /** Defaults to {@link LINK_LIMITS}. */
  readonly limits?: LinkLimits
}

/** Some entries of a part whose links have been read. */
export interface LinkBatch {
  /** Numbers of the first entry, and of the one after the last. */
  readonly start: number
  readonly end: number
  readonly commits: number
  readonly parents: number
  readonly tags: number
  readonly children: number
}

/** Some commits whose new objects are listed. */
export interface ListBatch {
  readonly commits: number
  readonly objects: number
}

/** How far linking has come. Plain data, to be stored as JSON; the rest is in files. */
export interface LinkState {
  readonly batches: readonly LinkBatch[]
  readonly lists: readonly ListBatch[]
  /** Parts whose graphs are written. */
  readonly graphs: number
  /** Files of objects that are in no part: which one is valid, and how many it has. */
  readonly othersFile: number
  readonly others: number
  /** Tree entries compared so far. */
  readonly compared: number
  /** Objects that are not of their form, or of another type than those that point at them say: the first. */
  readonly malformed: readonly string[]
  readonly mistyped: readonly string[]
  /** Objects that are needed and nowhere: the first. Null: it is not known yet. */
  readonly missing: readonly Oid[] | null
}

export const LINK_START: LinkState = {
  batches: [],
  lists: [],
  graphs: 0,
  othersFile: 0,
  others: 0,
  compared: 0,
  malformed: [],
  mistyped: [],
  missing: null,
}

export function linksName(batch: number): string {
  return `links-${batch}`
}

export function listsName(batch: number): string {
  return `lists-${batch}`
}

/** Where the tables of a file of links start, in bytes. All but the first are u32; numbers are those of entries. */
export interface LinksLayout {
  /** f64: committer times. */
  readonly times: number
  /** By entry: where its children end. */
  readonly childEnds: number
  /** See TreeChildren. */
  readonly children: number
  readonly commitNumbers: number
  readonly commitTrees: number
  readonly parentEnds: number
  readonly parents: number
  readonly tagNumbers: number
  readonly tagTargets: number
  readonly tagTypes: number
  readonly byteLength: number
}

export function linksLayout({ start, end, commits, parents, tags, children }: LinkBatch): LinksLayout {
  const childEnds = 8 * commits
  const childrenAt = childEnds + 4 * (end - start)
  const commitNumbers = childrenAt + 4 * children
  const commitTrees = commitNumbers + 4 * commits
  const parentEnds = commitTrees + 4 * commits
  const parentsAt = parentEnds + 4 * commits
  const tagNumbers = parentsAt + 4 * parents
  const tagTargets = tagNumbers + 4 * tags
  const tagTypes = tagTargets + 4 * tags
  const byteLength = tagTypes + 4 * tags
  return {
    ...{ times: 0, childEnds, children: childrenAt, commitNumbers, commitTrees, parentEnds, parents: parentsAt },
    ...{ tagNumbers, tagTargets, tagTypes, byteLength },
  }
}

export function listsBytes({ commits, objects }: ListBatch): number {
  return 4 * (commits + objects)
}

/** u32 values of a file, as a copy. */
export async function readWords(file: ByteRange, at: number, length: number): Promise<Uint32Array> {
  const bytes = await file.read(at, 4 * length)
  return new Uint32Array(bytes.slice().buffer)
}

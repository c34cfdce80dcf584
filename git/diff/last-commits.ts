import { OID_BYTES, type Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { canonicalMode, isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { readObject } from '../object/read-object.ts'
import { compareEntries, TreeReader } from '../object/tree.ts'
import { CommitQueue } from '../walk/commit-queue.ts'
import { firstParents, PathLookUp } from './path-look-up.ts'

/** How much may be looked at. */
export interface LastCommitLimits {
  /** Commits. */
  readonly examine: number
  /** Bytes of directories that are compared in all. */
  readonly bytes: number
}

export const LAST_COMMIT_LIMITS: LastCommitLimits = { examine: 3_000, bytes: 32 * 1024 * 1024 }

/** The commit that last changed each entry of a directory. */
export interface LastCommits {
  /** Numbers of the graph, by the entry's name with one character a byte ({@link nameKey}). */
  readonly commits: ReadonlyMap<string, number>
  /** False: the walk came to its limits, and the entries that are not there were last changed before. */
  readonly isComplete: boolean
  /** Commits that were looked at. */
  readonly examined: number
}

/** The answer for one commit, found before: a walk that comes to it goes no further. */
export interface KnownLastCommits {
  /** Number of the graph. */
  readonly at: number
  /** Entries that are not there were last changed further back than was looked. */
  readonly commits: ReadonlyMap<string, number>
}

/** A name as the key of a map: one character a byte. */
export function nameKey(name: Uint8Array): string {
  let key = ''
  for (const byte of name) key += String.fromCharCode(byte)
  return key
}

/**
 * Finds for all entries of a directory the commit that `git log -1 -- <entry>` gives, in one walk: each commit has the
 * entries that nobody has been found for on the way to it, hands those on that a parent has the same, to the first
 * such, and is the one for the rest.
 *
 * @param path of the directory; the empty one is the root
 * @param known what was found for an older commit
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}
 */
export async function findLastCommits(
  graph: CommitGraph,
  source: ObjectSource,
  from: number,
  path: Uint8Array,
  { known = null, limits = LAST_COMMIT_LIMITS }: { known?: KnownLastCommits | null; limits?: LastCommitLimits } = {},
): Promise<LastCommits> {
  const directories = new Directories(graph, source, path)
  const queue = new CommitQueue(graph, [from])
  const waiting = new Map<number, Set<string>>([[from, await directories.names(from)]])
  const commits = new Map<string, number>()
  let examined = 0
  let isComplete = true
  for (; queue.size > 0; examined++) {
    if (examined === limits.examine || directories.bytes > limits.bytes) {
      return { commits, isComplete: false, examined }
    }
    const commit = queue.pop()
    const names = waiting.get(commit)!
    waiting.delete(commit)
    if (commit === known?.at) {
      // What is the last commit of an entry from there on does not depend on how one came there.
      for (const name of names) {
        const last = known.commits.get(name)
        if (last === undefined) isComplete = false
        else commits.set(name, last)
      }
      continue
    }
    const parents = [...graph.parents(commit)]
    await directories.lookUp([commit, ...parents])
    if (parents.length > 0) await directories.readAhead(parents[0]!)
    for (const parent of parents) {
      if (names.size === 0) break
      const changed = await directories.changed(commit, parent)
      const same = changed === null ? [...names] : [...names].filter((name) => !changed.has(name))
      if (same.length === 0) continue
      const handed = waiting.get(parent)
      waiting.set(parent, handed === undefined ? new Set(same) : new Set([...handed, ...same]))
      queue.push(parent)
      for (const name of same) names.delete(name)
    }
    for (const name of names) commits.set(name, commit)
  }
  return { commits, isComplete, examined }
}

const NO_DIRECTORY = new Uint8Array(0)

/** The directory at one path, in many commits. */
class Directories {
  /** What has been read so far. */
  bytes = 0
  readonly #graph: CommitGraph
  readonly #source: ObjectSource
  readonly #lookUp: PathLookUp
  /** Of the commits that were just looked at. */
  #read = new Map<Oid, Promise<Uint8Array>>()

  constructor(graph: CommitGraph, source: ObjectSource, path: Uint8Array) {
    this.#graph = graph
    this.#source = source
    this.#lookUp = new PathLookUp(source, path)
  }

  async names(commit: number): Promise<Set<string>> {
    const reader = new TreeReader(await this.#entries(commit))
    const names = new Set<string>()
    while (reader.next()) names.add(nameKey(reader.name))
    return names
  }

  /** Finds where the directory is in these commits, and in some that come after them. */
  async lookUp(commits: readonly number[]): Promise<void> {
    const trees = commits.map((commit) => this.#graph.tree(commit))
    if (this.#lookUp.hasAll(trees)) return
    const ahead = firstParents(this.#graph, commits.at(1)).map((commit) => this.#graph.tree(commit))
    await this.#lookUp.all([...trees, ...ahead])
  }

  /** Reads the directory of a commit, and with it those that are compared next: the store answers many requests at once. */
  async readAhead(commit: number): Promise<void> {
    const [found] = await this.#found([commit])
    const tree = directoryOid(found!)
    if (tree === null || this.#read.has(tree)) return
    await Promise.all(firstParents(this.#graph, commit).map((older) => this.#entries(older)))
  }

  /** Names of entries that a parent does not have, or not the same; null: nothing differs. */
  async changed(commit: number, parent: number): Promise<ReadonlySet<string> | null> {
    const [here, there] = await this.#found([commit, parent])
    if (here === there) return null
    const [ours, theirs] = await Promise.all([this.#entries(commit), this.#entries(parent)])
    return changedNames(ours, theirs)
  }

  #found(commits: readonly number[]): Promise<string[]> {
    return this.#lookUp.all(commits.map((commit) => this.#graph.tree(commit)))
  }

  async #entries(commit: number): Promise<Uint8Array> {
    const [found] = await this.#found([commit])
    const tree = directoryOid(found!)
    if (tree === null) return NO_DIRECTORY
    const known = this.#read.get(tree)
    if (known !== undefined) return known
    // A directory is compared with those of its neighbours: older ones are not needed again.
    if (this.#read.size > KEPT) this.#read = new Map([...this.#read].slice(KEPT / 2))
    const read = readObject(this.#source, tree, TREE)
    this.#read.set(tree, read)
    const bytes = await read
    this.bytes += bytes.length
    return bytes
  }
}

/** Directories that are at hand. */
const KEPT = 64

/** Of what was found at a path: the id of a tree; a file is no directory. */
function directoryOid(found: string): Oid | null {
  const [mode, oid] = found.includes(' ') ? found.split(' ') : [null, found]
  if (oid === undefined || oid === '') return null
  return mode === null || isDirectory(Number(mode)) ? oid : null
}

function changedNames(ours: Uint8Array, theirs: Uint8Array): Set<string> {
  return changedInPlace(ours, theirs) ?? comparedNames(ours, theirs)
}

/** Names are followed by a NUL and an id. */
const AFTER_NAME = 1 + OID_BYTES

/** The same where nothing but ids differs, as between most commits and their parents; null: more differs. */
function changedInPlace(ours: Uint8Array, theirs: Uint8Array): Set<string> | null {
  if (ours.length !== theirs.length) return null
  const changed = new Set<string>()
  for (let start = 0; start < ours.length; ) {
    let at = start
    while (at < ours.length && ours[at] !== 0 && ours[at] === theirs[at]) at++
    if (ours[at] !== 0 || theirs[at] !== 0) return null
    const end = at + AFTER_NAME
    for (let i = at + 1; i < end; i++) {
      if (ours[i] === theirs[i]) continue
      changed.add(nameKey(ours.subarray(ours.indexOf(SPACE, start) + 1, at)))
      break
    }
    start = end
  }
  return changed
}

const SPACE = 0x20

function comparedNames(ours: Uint8Array, theirs: Uint8Array): Set<string> {
  const changed = new Set<string>()
  const [here, there] = [new TreeReader(ours), new TreeReader(theirs)]
  let hasTheirs = there.next()
  while (here.next()) {
    let order = hasTheirs ? compareEntries(here, there) : -1
    while (order > 0) {
      hasTheirs = there.next()
      order = hasTheirs ? compareEntries(here, there) : -1
    }
    const isSame = order === 0 && canonicalMode(here.mode) === canonicalMode(there.mode) && here.oid === there.oid
    if (!isSame) changed.add(nameKey(here.name))
    if (order === 0) hasTheirs = there.next()
  }
  return changed
}

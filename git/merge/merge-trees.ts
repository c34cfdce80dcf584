import type { Oid } from '../bytes/oid.ts'
import { countLines } from '../diff/text-lines.ts'
import { canonicalMode, DIRECTORY_MODE, isDirectory, isGitlink, isSymlink } from '../object/file-mode.ts'
import { GatedSource } from '../object/gated-source.ts'
import { hashObject } from '../object/hash-object.ts'
import { asciiText } from '../object/header-lines.ts'
import type { NewObject } from '../object/new-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, TREE } from '../object/object-type.ts'
import { joinPath } from '../object/path.ts'
import { readObject } from '../object/read-object.ts'
import { serializeTree, type TreeEntry, TreeReader } from '../object/tree.ts'
import type { PathEntry } from '../walk/tree-path.ts'
import { MAX_TREE_DEPTH, TreeDepthError } from '../walk/walk-tree.ts'
import type { ConflictKind, MergeConflict } from './merge-conflict.ts'
import { MERGE_LIMITS, type MergeLimits, MergeTooLargeError } from './merge-limits.ts'
import { MARKER_SIZE, type MergeLabels, mergeText } from './merge-text.ts'

/** Bytes of a file in which NUL makes it binary, as git has it. */
const BINARY_CHECK_BYTES = 8000

export interface TreeMergeOptions {
  readonly labels: MergeLabels
  readonly limits?: MergeLimits
  /**
   * 0: a merge for its result. Else the result is a base for another merge, so many levels down: conflicts stay in it
   * as git leaves them there, with longer markers.
   */
  readonly depth?: number
}

export interface MergedTrees {
  /** With conflicts in it, unless there are none: texts with markers, else what the options' `depth` asks for. */
  readonly tree: Oid
  /** The blobs and trees that have been made. */
  readonly objects: readonly NewObject[]
  /** In the order of their paths. */
  readonly conflicts: readonly MergeConflict[]
}

/** What stands at one name of the three trees. */
interface Versions {
  readonly base: PathEntry | null
  readonly ours: PathEntry | null
  readonly theirs: PathEntry | null
}

/**
 * Merges two trees that were made from one. What only one side has changed is taken from it, whole directories at
 * once; texts that both have changed are merged by lines. The result is git's own (`git merge-tree --write-tree`)
 * without the detection of renames: a file that one side moved and the other changed is a `modify/delete` conflict.
 * Attributes (`merge=union`) are not heeded.
 *
 * @param base null where the histories are not related
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}, {@link TreeDepthError}, {@link MergeTooLargeError}
 */
export async function mergeTrees(
  source: ObjectSource,
  base: Oid | null,
  ours: Oid,
  theirs: Oid,
  options: TreeMergeOptions,
): Promise<MergedTrees> {
  return new TreeMerge(source, options).merge(base, ours, theirs)
}

class TreeMerge {
  readonly #source: ObjectSource
  readonly #labels: MergeLabels
  readonly #limits: MergeLimits
  readonly #depth: number
  readonly #objects = new Map<Oid, NewObject>()
  readonly #conflicts: MergeConflict[] = []
  #heldBytes = 0

  constructor(source: ObjectSource, { labels, limits = MERGE_LIMITS, depth = 0 }: TreeMergeOptions) {
    this.#source = new GatedSource(source)
    this.#labels = labels
    this.#limits = limits
    this.#depth = depth
  }

  async merge(base: Oid | null, ours: Oid, theirs: Oid): Promise<MergedTrees> {
    const root = (tree: Oid | null) => (tree === null ? null : { mode: DIRECTORY_MODE, oid: tree })
    const merged = await this.#mergeEntry([], { base: root(base), ours: root(ours), theirs: root(theirs) })
    const tree = merged?.oid ?? this.#keep(TREE, new Uint8Array(0), null)
    const conflicts = this.#conflicts.sort((a, b) => comparePaths(a.path, b.path))
    return { tree, objects: [...this.#objects.values()], conflicts }
  }

  async #mergeEntry(names: readonly Uint8Array[], versions: Versions): Promise<PathEntry | null> {
    const taken = takeUnchanged(versions)
    if (taken !== undefined) return taken
    const directory = await this.#mergeDirectories(names, only(versions, isDirectoryEntry))
    const files = only(versions, (entry) => !isDirectoryEntry(entry))
    const file = takeUnchanged(files)
    if (directory === null) return file === undefined ? this.#mergeFiles(names, files) : file
    if (file === null) return directory
    // Where a directory is in the way there are never two files: one side has it.
    return this.#conflict(names, 'file/directory', versions, null, directory)
  }

  /** @returns null if nothing is left in it. */
  async #mergeDirectories(names: readonly Uint8Array[], versions: Versions): Promise<PathEntry | null> {
    const { base, ours, theirs } = versions
    if (base === null && ours === null && theirs === null) return null
    const taken = takeUnchanged(versions)
    if (taken !== undefined) return taken
    if (names.length >= MAX_TREE_DEPTH) {
      throw new TreeDepthError(`directories are nested more than ${MAX_TREE_DEPTH} deep`)
    }
    const trees = await Promise.all([base, ours, theirs].map((entry) => this.#readTree(entry)))
    const [inBase, inOurs, inTheirs] = trees as [Entries, Entries, Entries]
    const all = new Map([...inBase, ...inOurs, ...inTheirs])
    const merged = await Promise.all(
      [...all].map(async ([key, { name }]) => {
        const at = (entries: Entries) => entries.get(key) ?? null
        const entry = await this.#mergeEntry([...names, name], {
          base: at(inBase),
          ours: at(inOurs),
          theirs: at(inTheirs),
        })
        return entry && { ...entry, name }
      }),
    )
    const entries = merged.filter((entry) => entry !== null)
    if (entries.length === 0) return null
    return { mode: DIRECTORY_MODE, oid: this.#keep(TREE, serializeTree(entries), (ours ?? theirs)?.oid ?? null) }
  }

  async #readTree(entry: PathEntry | null): Promise<Entries> {
    const entries: Entries = new Map()
    if (entry === null) return entries
    const reader = new TreeReader(await readObject(this.#source, entry.oid, TREE))
    while (reader.next()) {
      const { name } = reader
      entries.set(asciiText(name), { mode: canonicalMode(reader.mode), name, oid: reader.oid })
    }
    return entries
  }

  /** Merges what both have changed, or one has changed and the other deleted. @returns what stays there. */
  async #mergeFiles(names: readonly Uint8Array[], versions: Versions): Promise<PathEntry | null> {
    const { base, ours, theirs } = versions
    if (ours === null || theirs === null) {
      return this.#conflict(names, 'modify/delete', versions, null, this.#isInner ? base : (ours ?? theirs))
    }
    if (fileType(ours) !== fileType(theirs)) {
      return this.#conflict(names, 'type', versions, null, this.#isInner ? base : ours)
    }
    const keepsTheirMode = ours.mode === theirs.mode || ours.mode === base?.mode
    const mode = keepsTheirMode ? theirs.mode : ours.mode
    const modeKind = keepsTheirMode || theirs.mode === base?.mode ? null : 'mode'
    const same = takeUnchanged({ base: contentOf(base), ours: contentOf(ours), theirs: contentOf(theirs) })
    if (same) {
      const entry = { mode, oid: same.oid }
      return modeKind === null ? entry : this.#conflict(names, modeKind, versions, null, entry)
    }
    if (isSymlink(ours.mode) || isGitlink(ours.mode)) {
      const kind = isSymlink(ours.mode) ? 'symlink' : 'submodule'
      return this.#conflict(names, kind, versions, null, this.#isInner ? base : ours)
    }
    const oldOid = base !== null && fileType(base) === fileType(ours) ? base.oid : null
    const texts = await this.#readTexts([oldOid, ours.oid, theirs.oid])
    if (typeof texts === 'string') {
      const oid = this.#isInner ? (oldOid ?? this.#keep(BLOB, new Uint8Array(0), null)) : ours.oid
      return this.#conflict(names, texts, versions, null, { mode, oid })
    }
    const merged = mergeText(...texts, this.#labels, MARKER_SIZE + 2 * this.#depth)
    const entry = { mode, oid: this.#keep(BLOB, merged.bytes, ours.oid) }
    const textKind = merged.conflicts === 0 ? null : base === null ? 'add/add' : 'content'
    const kind = textKind ?? modeKind
    return kind === null ? entry : this.#conflict(names, kind, versions, merged.bytes, entry)
  }

  /** The texts; null stands for an empty one. Or why they are not to be merged by lines. */
  async #readTexts(
    oids: readonly [Oid | null, Oid, Oid],
  ): Promise<[Uint8Array, Uint8Array, Uint8Array] | 'binary' | 'too-large'> {
    const sizes = await Promise.all(oids.map((oid) => (oid === null ? null : this.#source.stat(oid))))
    if (sizes.some((stat) => stat !== null && stat.size > this.#limits.textBytes)) return 'too-large'
    const texts = await Promise.all(oids.map((oid) => (oid === null ? NOTHING : readObject(this.#source, oid, BLOB))))
    if (texts.some((text) => text.subarray(0, BINARY_CHECK_BYTES).includes(0))) return 'binary'
    if (texts.some((text) => countLines(text) > this.#limits.textLines)) return 'too-large'
    return texts as [Uint8Array, Uint8Array, Uint8Array]
  }

  get #isInner(): boolean {
    return this.#depth > 0
  }

  /** Notes a conflict. @returns what stays at its path. */
  #conflict(
    names: readonly Uint8Array[],
    kind: ConflictKind,
    { base, ours, theirs }: Versions,
    merged: Uint8Array | null,
    stays: PathEntry | null,
  ): PathEntry | null {
    const path = names.reduce(joinPath, NOTHING)
    this.#conflicts.push({ path, kind, base: plain(base), ours: plain(ours), theirs: plain(theirs), merged })
    return stays
  }

  /** @param base what it is probably like */
  #keep(type: typeof BLOB | typeof TREE, bytes: Uint8Array, base: Oid | null): Oid {
    const oid = hashObject(type, bytes)
    if (oid === base || this.#objects.has(oid)) return oid
    this.#objects.set(oid, { type, bytes, oid, base })
    this.#heldBytes += bytes.length
    if (this.#heldBytes > this.#limits.heldBytes) {
      throw new MergeTooLargeError(`the merge makes more than ${this.#limits.heldBytes} bytes of files and directories`)
    }
    return oid
  }
}

type Entries = Map<string, TreeEntry>

const NOTHING = new Uint8Array(0)

/** What is taken without a merge: what both have, or what one has changed alone. Undefined if both have changed it. */
function takeUnchanged({ base, ours, theirs }: Versions): PathEntry | null | undefined {
  if (isSame(ours, theirs) || isSame(base, theirs)) return ours
  return isSame(base, ours) ? theirs : undefined
}

function isSame(a: PathEntry | null, b: PathEntry | null): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode
}

function only({ base, ours, theirs }: Versions, has: (entry: PathEntry) => boolean): Versions {
  const kept = (entry: PathEntry | null) => (entry !== null && has(entry) ? entry : null)
  return { base: kept(base), ours: kept(ours), theirs: kept(theirs) }
}

function isDirectoryEntry({ mode }: PathEntry): boolean {
  return isDirectory(mode)
}

function fileType({ mode }: PathEntry): 'link' | 'submodule' | 'file' {
  return isSymlink(mode) ? 'link' : isGitlink(mode) ? 'submodule' : 'file'
}

/** The entry without its mode. */
function contentOf(entry: PathEntry | null): PathEntry | null {
  return entry && { mode: 0, oid: entry.oid }
}

function plain(entry: PathEntry | null): PathEntry | null {
  return entry && { mode: entry.mode, oid: entry.oid }
}

function comparePaths(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

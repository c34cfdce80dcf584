import { GrowingUint32 } from '../bytes/growing.ts'
import type { BufferHolder, MemoryAccount } from '../bytes/memory-account.ts'
import { ByteTable, NumberTable } from '../bytes/number-table.ts'
import { type Oid, oidToBytes } from '../bytes/oid.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, COMMIT, type ObjectType, objectTypeName, TREE } from '../object/object-type.ts'
import type { CommitGraph } from './commit-graph.ts'
import { GraphReferences } from './graph-references.ts'
import { NewObjects } from './new-objects.ts'
import { type ObjectLinks, TOLD_FAULTS } from './object-links.ts'
import type { ObjectNumbers } from './object-numbers.ts'
import { createPackGraph, NO_SHARES, type PackGraphCounts, packGraphBytes } from './pack-graph.ts'
import { childIsTree, childNumber } from './tree-children.ts'
import { TreeLoader } from './tree-loader.ts'

/** Presence look-ups under way at once. */
const LOOK_UPS_AT_ONCE = 64
/** Commits, and trees, between two looks at the memory held. */
const CHECKED_EVERY = 256

/** What the repository held before the pack. */
export interface KnownObjects {
  readonly objects: ObjectSource
  readonly graph: CommitGraph
}

export interface GraphInput {
  /** Where the buffers held are entered, and added up as the work goes on. */
  readonly memory?: MemoryAccount
  readonly links: ObjectLinks
  readonly ids: ObjectNumbers
  /** Types of the entries. */
  readonly types: Uint8Array
  /** The pack's own objects, for trees whose links did not stay. */
  readonly objects: ObjectSource
  readonly known: KnownObjects | null
  /** Called now and then with the number of commits whose objects are listed, and that of all. */
  readonly onProgress?: (done: number, total: number) => void
}

/** The graph of a pack, not yet written; it holds what it takes to do so. */
export interface BuiltGraph extends BufferHolder {
  /** Objects that the pack's objects need and nobody has, each once: the first {@link TOLD_FAULTS}. */
  readonly missing: readonly Oid[]
  /** Objects that are of another type than those that point at them say, in words: the first {@link TOLD_FAULTS}. */
  readonly mistyped: readonly string[]
  /** The graph file (see PackGraph). @throws MemoryLimitError */
  write(): Uint8Array
}

/**
 * Makes the graph of a pack from the links of its objects, and finds out what they need that is not there.
 *
 * @throws {@link PackError} if that takes more than it may, MemoryLimitError
 */
export async function buildGraph(input: GraphInput): Promise<BuiltGraph> {
  const builder = new GraphBuilder(input)
  input.memory?.enter(builder)
  try {
    await builder.build()
    return builder
  } finally {
    input.memory?.leave(builder)
  }
}

/** What is known of an object, by its number: the type that those who point at it say (0 if nobody does), and flags. */
const EXPECTED_TYPE = 7
/** A tree that some commit lists: its links are checked there. */
const LISTED_TREE = 8
const MISSING = 16
const MISTYPED = 32

class GraphBuilder implements BuiltGraph {
  readonly missing: Oid[] = []
  readonly mistyped: string[] = []
  readonly #memory: MemoryAccount | undefined
  readonly #onProgress: GraphInput['onProgress']
  readonly #links: ObjectLinks
  readonly #ids: ObjectNumbers
  readonly #types: Uint8Array
  readonly #known: KnownObjects | null
  /** The pack's commits in pack order, each once, as places in the links' table; and their ordinals. */
  readonly #commits: Uint32Array
  readonly #ordinals: Uint32Array
  readonly #tags: Uint32Array
  readonly #generations: Uint32Array
  /** By commit: where its objects end in `listed`. */
  readonly #objectEnds: Uint32Array
  /** Numbers of the objects that the commits list. */
  readonly #listed = new GrowingUint32()
  readonly #marks: ByteTable
  /** By number of a commit in another pack: the number of its tree. */
  readonly #knownTrees = new Map<number, number>()
  readonly #trees: TreeLoader
  /** Until all lists are made. */
  #newObjects: NewObjects | null

  constructor({ memory, links, ids, types, objects, known, onProgress }: GraphInput) {
    this.#memory = memory
    this.#onProgress = onProgress
    this.#links = links
    this.#ids = ids
    this.#types = types
    this.#known = known
    this.#commits = inPackOrder(links.commits.ordinals.view(), ids)
    this.#ordinals = this.#commits.map((commit) => links.commits.ordinals.at(commit))
    this.#tags = inPackOrder(links.tags.ordinals.view(), ids)
    this.#generations = new Uint32Array(this.#commits.length)
    this.#objectEnds = new Uint32Array(this.#commits.length)
    this.#marks = new ByteTable(ids.size)
    this.#trees = new TreeLoader(links.trees, ids, objects, known?.objects ?? null)
    this.#newObjects = new NewObjects(
      this.#trees,
      () => new NumberTable(ids.size),
      (number, isTree) => this.#list(number, isTree),
    )
  }

  get heldBytes(): number {
    const arrays = [this.#commits, this.#ordinals, this.#tags, this.#generations, this.#objectEnds]
    const own = this.#marks.heldBytes + this.#listed.heldBytes + (this.#newObjects?.heldBytes ?? 0)
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, own)
  }

  async build(): Promise<void> {
    const { commits, tags } = this.#links
    for (const [i, commit] of this.#commits.entries()) {
      if (i % CHECKED_EVERY === 0) this.#report(i)
      for (const parent of commits.parents(commit)) this.#expect(parent, COMMIT)
      this.#expect(commits.trees.at(commit), TREE)
      await this.#listNewObjects(commit)
      this.#objectEnds[i] = this.#listed.length
    }
    this.#report(this.#commits.length)
    this.#newObjects = null
    for (const tag of this.#tags) this.#expect(tags.targets.at(tag), tags.types.at(tag) as ObjectType)
    await this.#expectLinksOfUnlistedTrees()
    this.#links.letGo()
    await this.#findMissing()
    // From the end, where git puts the oldest ones.
    for (let commit = this.#commits.length - 1; commit >= 0; commit--) this.#findGeneration(commit)
    this.#memory?.check()
  }

  write(): Uint8Array {
    const references = new GraphReferences(this.#ids)
    this.#memory?.enter(references)
    try {
      return this.#write(references)
    } finally {
      this.#memory?.leave(references)
    }
  }

  #report(commits: number): void {
    this.#memory?.check()
    this.#onProgress?.(commits, this.#commits.length)
  }

  /** Notes that an object is needed, and what it has to be. */
  #expect(number: number, type: ObjectType): void {
    const mark = this.#marks.get(number)
    const before = mark & EXPECTED_TYPE
    if (before === 0) this.#marks.set(number, mark | type)
    else if (before !== type) this.#noteMistyped(number)
  }

  #noteMistyped(number: number): void {
    const mark = this.#marks.get(number)
    if ((mark & MISTYPED) !== 0) return
    this.#marks.set(number, mark | MISTYPED)
    const expected = objectTypeName((mark & EXPECTED_TYPE) as ObjectType)
    if (this.mistyped.length === TOLD_FAULTS) return
    this.mistyped.push(`${this.#ids.oidAt(number)}: not a ${expected}, or not everywhere, as what points at it says`)
  }

  /** The trees and blobs of a commit that none of its parents has. */
  async #listNewObjects(commit: number): Promise<void> {
    const { commits } = this.#links
    const root = commits.trees.at(commit)
    const oldRoots = new Set<number>()
    for (const parent of commits.parents(commit)) {
      const tree = this.#treeOf(parent)
      if (tree === root) return
      if (tree >= 0) oldRoots.add(tree)
    }
    await this.#newObjects!.compare(root, oldRoots)
  }

  #list(number: number, isTree: boolean): void {
    this.#expect(number, isTree ? TREE : BLOB)
    this.#listed.push(number)
    if (isTree) this.#marks.set(number, this.#marks.get(number) | LISTED_TREE)
  }

  /** The number of a commit's tree, or -1 if the commit is not there. */
  #treeOf(commit: number): number {
    const inPack = this.#commitOf(commit)
    if (inPack >= 0) return this.#links.commits.trees.at(this.#commits[inPack]!)
    let tree = this.#knownTrees.get(commit)
    if (tree === undefined) {
      const known = this.#knownCommit(commit)
      tree = known < 0 ? -1 : this.#ids.intern(oidToBytes(this.#known!.graph.tree(known)))
      this.#knownTrees.set(commit, tree)
    }
    return tree
  }

  /** The place among the pack's commits of the one with this number, or -1. */
  #commitOf(number: number): number {
    const ordinal = this.#ids.ordinalOf(number)
    let low = 0
    let high = ordinal < 0 ? 0 : this.#ordinals.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#ordinals[middle]! < ordinal) low = middle + 1
      else high = middle
    }
    return this.#ordinals[low] === ordinal ? low : -1
  }

  #knownCommit(number: number): number {
    return this.#known?.graph.find(this.#ids.oidAt(number)) ?? -1
  }

  /** Trees of the pack that no commit lists (a tag of a tree, or one that a parent has too): their links count as well. */
  async #expectLinksOfUnlistedTrees(): Promise<void> {
    let trees = 0
    for (let ordinal = 0; ordinal < this.#types.length; ordinal++) {
      const number = this.#ids.numberOf(ordinal)
      if (this.#types[ordinal] !== TREE || (this.#marks.get(number) & LISTED_TREE) !== 0) continue
      if (trees++ % CHECKED_EVERY === 0) this.#memory?.check()
      const children = this.#trees.children(number) ?? (await this.#trees.load(number))
      for (const child of children) this.#expect(childNumber(child), childIsTree(child) ? TREE : BLOB)
    }
  }

  /** Marks what is needed and is nowhere. What is there must be of the type that is expected. */
  async #findMissing(): Promise<void> {
    let elsewhere: number[] = []
    for (let number = 0; number < this.#marks.length; number++) {
      const expected = this.#marks.get(number) & EXPECTED_TYPE
      if (expected === 0) continue
      const ordinal = this.#ids.ordinalOf(number)
      if (ordinal < 0) elsewhere.push(number)
      else if (this.#types[ordinal] !== expected) this.#noteMistyped(number)
      if (elsewhere.length < LOOK_UPS_AT_ONCE) continue
      await this.#lookUp(elsewhere)
      elsewhere = []
    }
    await this.#lookUp(elsewhere)
  }

  async #lookUp(numbers: readonly number[]): Promise<void> {
    const found = await Promise.all(numbers.map((number) => this.#known?.objects.stat(this.#ids.oidAt(number))))
    for (const [i, number] of numbers.entries()) {
      const mark = this.#marks.get(number)
      if (!found[i]) {
        this.#marks.set(number, mark | MISSING)
        if (this.missing.length < TOLD_FAULTS) this.missing.push(this.#ids.oidAt(number))
      } else if (found[i].type !== (mark & EXPECTED_TYPE)) this.#noteMistyped(number)
    }
  }

  #isMissing(number: number): boolean {
    return (this.#marks.get(number) & MISSING) !== 0
  }

  #write(references: GraphReferences): Uint8Array {
    const { commits, tags } = this.#links
    const counts = this.#count(references)
    this.#memory?.check(packGraphBytes(counts))
    const { file, tables } = createPackGraph(counts)
    let parent = 0
    let object = 0
    let at = 0
    for (const [i, commit] of this.#commits.entries()) {
      tables.times[i] = commits.times.at(commit)
      tables.ordinals[i] = this.#ordinals[i]!
      tables.trees[i] = references.to(commits.trees.at(commit))
      tables.generations[i] = this.#generations[i]!
      for (const number of commits.parents(commit)) tables.parents[parent++] = references.to(number)
      tables.parentEnds[i] = parent
      for (; at < this.#objectEnds[i]!; at++) {
        const number = this.#listed.at(at)
        if (!this.#isMissing(number)) tables.objects[object++] = references.to(number)
      }
      tables.objectEnds[i] = object
    }
    for (const [i, tag] of this.#tags.entries()) {
      tables.tagOrdinals[i] = tags.ordinals.at(tag)
      tables.tagTargets[i] = references.to(tags.targets.at(tag))
      tables.tagTypes[i] = tags.types.at(tag)
    }
    let missing = 0
    for (let number = 0; number < this.#marks.length; number++) {
      if (this.#isMissing(number)) tables.missing[missing++] = references.to(number)
    }
    references.copyExternal(tables.external)
    return file
  }

  /** How large the tables of the file will be; all that it refers to has its reference then. */
  #count(references: GraphReferences): PackGraphCounts {
    const { commits, tags } = this.#links
    let parents = 0
    let objects = 0
    for (const commit of this.#commits) {
      for (const number of commits.parents(commit)) references.to(number)
      parents += commits.parents(commit).length
      references.to(commits.trees.at(commit))
    }
    for (let at = 0; at < this.#listed.length; at++) {
      const number = this.#listed.at(at)
      if (this.#isMissing(number)) continue
      references.to(number)
      objects++
    }
    for (const tag of this.#tags) references.to(tags.targets.at(tag))
    let missing = 0
    for (let number = 0; number < this.#marks.length; number++) {
      if (!this.#isMissing(number)) continue
      references.to(number)
      missing++
    }
    const [external, tagCount] = [references.externals, this.#tags.length]
    return { commits: this.#commits.length, tags: tagCount, parents, objects, missing, external, ...NO_SHARES }
  }

  /** 1 + the largest of the parents', found without recursion: histories are long. */
  #findGeneration(commit: number): void {
    const { commits } = this.#links
    const stack = [commit]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (this.#generations[top]! > 0) {
        // A commit may be the parent of several, or of one several times.
        stack.pop()
        continue
      }
      let largest = 0
      const before = stack.length
      for (const parent of commits.parents(this.#commits[top]!)) {
        const inPack = this.#commitOf(parent)
        if (inPack < 0) largest = Math.max(largest, this.#knownGeneration(parent))
        else if (this.#generations[inPack]! > 0) largest = Math.max(largest, this.#generations[inPack]!)
        else stack.push(inPack)
      }
      if (stack.length > before) continue
      this.#generations[top] = largest + 1
      stack.pop()
    }
  }

  /** Of a commit in another pack; 0 if it is nowhere. */
  #knownGeneration(number: number): number {
    const known = this.#knownCommit(number)
    return known < 0 ? 0 : this.#known!.graph.generation(known)
  }
}

/** Places in a table of ordinals in the order of those; of entries that are the same object only the first. */
function inPackOrder(ordinals: Uint32Array, ids: ObjectNumbers): Uint32Array {
  return Uint32Array.from(ordinals.keys())
    .filter((place) => ids.ordinalOf(ids.numberOf(ordinals[place]!)) === ordinals[place])
    .sort((a, b) => ordinals[a]! - ordinals[b]!)
}

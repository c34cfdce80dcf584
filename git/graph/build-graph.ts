import { GrowingUint32 } from '../bytes/growing.ts'
import type { MemoryAccount } from '../bytes/memory-account.ts'
import { NumberTable } from '../bytes/number-table.ts'
import { type Oid, oidToBytes } from '../bytes/oid.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, COMMIT, type ObjectType, objectTypeName, TREE } from '../object/object-type.ts'
import type { EntryIds } from '../pack/entry-ids.ts'
import type { CommitGraph } from './commit-graph.ts'
import { GraphReferences } from './graph-references.ts'
import { NewObjects } from './new-objects.ts'
import type { ObjectLinks } from './object-links.ts'
import { writePackGraph } from './pack-graph.ts'
import { childIsTree, childNumber } from './tree-children.ts'
import { TreeLoader } from './tree-loader.ts'

/** Presence look-ups under way at once. */
const LOOK_UPS_AT_ONCE = 64
const NO_COMMIT = 0

/** What the repository held before the pack. */
export interface KnownObjects {
  readonly objects: ObjectSource
  readonly graph: CommitGraph
}

export interface GraphInput {
  /** Where the buffers held are entered. */
  readonly memory?: MemoryAccount
  readonly links: ObjectLinks
  readonly ids: EntryIds
  /** Types of the entries. */
  readonly types: Uint8Array
  /** The pack's own objects, for trees whose links did not stay. */
  readonly objects: ObjectSource
  readonly known: KnownObjects | null
}

export interface BuiltGraph {
  /** The graph file (see {@link PackGraph}). */
  readonly file: Uint8Array
  /** Objects that the pack's objects need and nobody has, each once. */
  readonly missing: readonly Oid[]
  /** Objects that are of another type than those that point at them say, in words. */
  readonly mistyped: readonly string[]
}

/**
 * Makes the graph of a pack from the links of its objects, and finds out what they need that is not there.
 *
 * @throws {@link PackError} if that takes more than it may.
 */
export async function buildGraph(input: GraphInput): Promise<BuiltGraph> {
  const builder = new GraphBuilder(input)
  input.memory?.enter(builder)
  const graph = await builder.build()
  input.memory?.check()
  return graph
}

class GraphBuilder {
  readonly #links: ObjectLinks
  readonly #ids: EntryIds
  readonly #types: Uint8Array
  readonly #known: KnownObjects | null
  /** The pack's commits in pack order, each once, as places in the links' table. */
  readonly #commits: Uint32Array
  /** By number: the place in the links' table plus 1 of the commit with this id. */
  readonly #commitOf: Uint32Array
  readonly #generations: NumberTable
  /** By number: the type that those who point at it say; 0 if nobody does. */
  readonly #expected: NumberTable
  readonly #mistyped = new Set<number>()
  /** By number: 1 for trees that some commit lists. Their links are checked there. */
  readonly #listedTrees: NumberTable
  /** Numbers of the objects that the commits list. */
  readonly #listed = new GrowingUint32()
  /** By number of a commit in another pack: the number of its tree. */
  readonly #knownTrees = new Map<number, number>()
  readonly #trees: TreeLoader
  readonly #newObjects: NewObjects

  constructor({ links, ids, types, objects, known }: GraphInput) {
    this.#links = links
    this.#ids = ids
    this.#types = types
    this.#known = known
    const numbers = ids.table.size
    this.#commits = inPackOrder(links.commits.ordinals.view(), ids)
    this.#commitOf = new Uint32Array(numbers)
    for (const commit of this.#commits) {
      this.#commitOf[ids.numberOf(links.commits.ordinals.at(commit))] = commit + 1
    }
    this.#generations = new NumberTable(numbers)
    this.#expected = new NumberTable(numbers)
    this.#listedTrees = new NumberTable(numbers)
    this.#trees = new TreeLoader(links.trees, ids, objects, known?.objects ?? null)
    this.#newObjects = new NewObjects(this.#trees, numbers, (number, isTree) => this.#list(number, isTree))
  }

  get heldBytes(): number {
    const tables = [this.#generations, this.#expected, this.#listedTrees, this.#listed, this.#newObjects]
    const arrays = this.#commits.byteLength + this.#commitOf.byteLength
    return tables.reduce((sum, { heldBytes }) => sum + heldBytes, arrays)
  }

  async build(): Promise<BuiltGraph> {
    const { commits, tags } = this.#links
    const objectEnds = new Uint32Array(this.#commits.length)
    for (const [i, commit] of this.#commits.entries()) {
      for (const parent of commits.parents(commit)) this.#expect(parent, COMMIT)
      this.#expect(commits.trees.at(commit), TREE)
      await this.#listNewObjects(commit)
      objectEnds[i] = this.#listed.length
    }
    const tagOrder = inPackOrder(tags.ordinals.view(), this.#ids)
    for (const tag of tagOrder) this.#expect(tags.targets.at(tag), tags.types.at(tag) as ObjectType)
    await this.#expectLinksOfUnlistedTrees()
    const missing = await this.#findMissing()
    const mistyped = Array.from(this.#mistyped, (number) => this.#describeMistyped(number))
    return { file: this.#write(objectEnds, tagOrder, missing), missing: this.#oidsOf(missing), mistyped }
  }

  /** Notes that an object is needed, and what it has to be. */
  #expect(number: number, type: ObjectType): void {
    const before = this.#expected.get(number)
    if (before === 0) this.#expected.set(number, type)
    else if (before !== type) this.#mistyped.add(number)
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
    await this.#newObjects.compare(root, oldRoots)
  }

  #list(number: number, isTree: boolean): void {
    this.#expect(number, isTree ? TREE : BLOB)
    this.#listed.push(number)
    if (isTree) this.#listedTrees.set(number, 1)
  }

  /** The number of a commit's tree, or -1 if the commit is not there. */
  #treeOf(commit: number): number {
    const inPack = this.#commitOf[commit] ?? NO_COMMIT
    if (inPack !== NO_COMMIT) return this.#links.commits.trees.at(inPack - 1)
    let tree = this.#knownTrees.get(commit)
    if (tree === undefined) {
      const known = this.#knownCommit(commit)
      tree = known < 0 ? -1 : this.#ids.table.intern(oidToBytes(this.#known!.graph.tree(known)))
      this.#knownTrees.set(commit, tree)
    }
    return tree
  }

  #knownCommit(number: number): number {
    return this.#known?.graph.find(this.#ids.table.oidAt(number)) ?? -1
  }

  /** Trees of the pack that no commit lists (a tag of a tree, or one that a parent has too): their links count as well. */
  async #expectLinksOfUnlistedTrees(): Promise<void> {
    for (let ordinal = 0; ordinal < this.#types.length; ordinal++) {
      const number = this.#ids.numberOf(ordinal)
      if (this.#types[ordinal] !== TREE || this.#listedTrees.get(number) === 1) continue
      const children = this.#trees.children(number) ?? (await this.#trees.load(number))
      for (const child of children) this.#expect(childNumber(child), childIsTree(child) ? TREE : BLOB)
    }
  }

  /** Numbers of what is needed and is nowhere. What is there must be of the type that is expected. */
  async #findMissing(): Promise<Set<number>> {
    const elsewhere: number[] = []
    for (let number = 0; number < this.#expected.length; number++) {
      const expected = this.#expected.get(number)
      if (expected === 0) continue
      const ordinal = this.#ids.ordinalOf(number)
      if (ordinal < 0) elsewhere.push(number)
      else if (this.#types[ordinal] !== expected) this.#mistyped.add(number)
    }
    const missing = new Set<number>()
    for (let at = 0; at < elsewhere.length; at += LOOK_UPS_AT_ONCE) {
      const numbers = elsewhere.slice(at, at + LOOK_UPS_AT_ONCE)
      const found = await Promise.all(numbers.map((number) => this.#known?.objects.stat(this.#ids.table.oidAt(number))))
      for (const [i, number] of numbers.entries()) {
        if (!found[i]) missing.add(number)
        else if (found[i].type !== this.#expected.get(number)) this.#mistyped.add(number)
      }
    }
    return missing
  }

  #describeMistyped(number: number): string {
    const expected = objectTypeName(this.#expected.get(number) as ObjectType)
    return `${this.#ids.table.oidAt(number)}: not a ${expected}, or not everywhere, as what points at it says`
  }

  #write(objectEnds: Uint32Array, tagOrder: Uint32Array, missing: ReadonlySet<number>): Uint8Array {
    const { commits, tags } = this.#links
    const references = new GraphReferences(this.#ids)
    const parents = new GrowingUint32()
    const parentEnds = new Uint32Array(this.#commits.length)
    const objects = new GrowingUint32()
    const presentEnds = new Uint32Array(this.#commits.length)
    let at = 0
    for (const [i, commit] of this.#commits.entries()) {
      for (const parent of commits.parents(commit)) parents.push(references.to(parent))
      parentEnds[i] = parents.length
      for (; at < objectEnds[i]!; at++) {
        const number = this.#listed.at(at)
        if (!missing.has(number)) objects.push(references.to(number))
      }
      presentEnds[i] = objects.length
    }
    const missingReferences = Uint32Array.from(missing, (number) => references.to(number))
    const trees = this.#commits.map((commit) => references.to(commits.trees.at(commit)))
    const tagTargets = tagOrder.map((tag) => references.to(tags.targets.at(tag)))
    return writePackGraph({
      times: Float64Array.from(this.#commits, (commit) => commits.times.at(commit)),
      ordinals: this.#commits.map((commit) => commits.ordinals.at(commit)),
      trees,
      generations: this.#commits.map((commit) => this.#generation(commit)),
      parentEnds,
      parents: parents.view(),
      objectEnds: presentEnds,
      objects: objects.view(),
      tagOrdinals: tagOrder.map((tag) => tags.ordinals.at(tag)),
      tagTargets,
      tagTypes: tagOrder.map((tag) => tags.types.at(tag)),
      missing: missingReferences,
      external: references.external(),
    })
  }

  /** 1 + the largest of the parents', found without recursion: histories are long. */
  #generation(commit: number): number {
    const { commits } = this.#links
    const stack = [commit]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const number = this.#ids.numberOf(commits.ordinals.at(top))
      if (this.#generations.get(number) > 0) {
        // A commit may be the parent of several, or of one several times.
        stack.pop()
        continue
      }
      let largest = 0
      const before = stack.length
      for (const parent of commits.parents(top)) {
        const generation = this.#generations.get(parent)
        const inPack = this.#commitOf[parent] ?? NO_COMMIT
        if (generation > 0) largest = Math.max(largest, generation)
        else if (inPack !== NO_COMMIT) stack.push(inPack - 1)
        else largest = Math.max(largest, this.#knownGeneration(parent))
      }
      if (stack.length > before) continue
      this.#generations.set(number, largest + 1)
      stack.pop()
    }
    return this.#generations.get(this.#ids.numberOf(commits.ordinals.at(commit)))
  }

  /** Of a commit in another pack; 0 if it is nowhere. */
  #knownGeneration(number: number): number {
    const known = this.#knownCommit(number)
    if (known < 0) return 0
    const generation = this.#known!.graph.generation(known)
    this.#generations.set(number, generation)
    return generation
  }

  #oidsOf(numbers: ReadonlySet<number>): Oid[] {
    return Array.from(numbers, (number) => this.#ids.table.oidAt(number))
  }
}

/** Places in a table of ordinals in the order of those; of entries that are the same object only the first. */
function inPackOrder(ordinals: Uint32Array, ids: EntryIds): Uint32Array {
  return Uint32Array.from(ordinals.keys())
    .filter((place) => ids.ordinalOf(ids.numberOf(ordinals[place]!)) === ordinals[place])
    .sort((a, b) => ordinals[a]! - ordinals[b]!)
}

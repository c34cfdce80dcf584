import { GrowingUint32 } from '../bytes/growing.ts'
import { OID_BYTES, type Oid, oidToBytes } from '../bytes/oid.ts'
import { MalformedObjectError } from '../object/malformed-object-error.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, COMMIT, type ObjectType, objectTypeName, TREE } from '../object/object-type.ts'
import { PackError } from '../pack/entry-header.ts'
import type { EntryIds } from '../pack/entry-ids.ts'
import type { CommitGraph } from './commit-graph.ts'
import type { ObjectLinks } from './object-links.ts'
import { EXTERNAL_REFERENCE, writePackGraph } from './pack-graph.ts'
import { childIsTree, childNumber } from './tree-children.ts'

/** Tree entries compared in all: half a minute of CPU. The largest histories of the world take a tenth. */
const COMPARED_ENTRIES_LIMIT = 10_000_000_000
/** Trees and presence look-ups asked for at once. */
const READS_AT_ONCE = 6
const NO_COMMIT = 0

/** What the repository held before the pack. */
export interface KnownObjects {
  readonly objects: ObjectSource
  readonly graph: CommitGraph
}

export interface GraphInput {
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
 * Two trees are compared level by level as sets of ids: what hangs below a tree and not below the old trees of that
 * level is new. Only trees that changed are looked at; of trees in other packs, those that lie on a changed path.
 *
 * @throws {@link PackError} if that takes more than it may.
 */
export async function buildGraph(input: GraphInput): Promise<BuiltGraph> {
  return new GraphBuilder(input).build()
}

class GraphBuilder {
  readonly #links: ObjectLinks
  readonly #ids: EntryIds
  readonly #types: Uint8Array
  readonly #objects: ObjectSource
  readonly #known: KnownObjects | null
  /** The pack's commits in pack order, each once, as places in the links' table. */
  readonly #commits: Uint32Array
  /** By number: the place in the links' table plus 1 of the commit with this id. */
  readonly #commitOf: Uint32Array
  readonly #generations: NumberTable
  /** By number: the type that those who point at it say; 0 if nobody does. */
  readonly #expected: NumberTable
  readonly #mistyped = new Set<number>()
  /** By number: the commit (counted from 1) that last met this id on the old side, or listed it. */
  readonly #oldMarks: NumberTable
  readonly #newMarks: NumberTable
  /** By number: the level that last met this tree on the new side; levels are counted over all commits. */
  readonly #levelMarks: NumberTable
  #level = 0
  /** By number: 1 for trees that some commit lists. Their links are checked there. */
  readonly #listedTrees: NumberTable
  /** Numbers of the objects that the commits list. */
  readonly #listed = new GrowingUint32()
  readonly #unreadable = new Set<number>()
  /** By number of a commit in another pack: the number of its tree. */
  readonly #knownTrees = new Map<number, number>()
  #compared = 0

  constructor({ links, ids, types, objects, known }: GraphInput) {
    this.#links = links
    this.#ids = ids
    this.#types = types
    this.#objects = objects
    this.#known = known
    const numbers = ids.table.size
    this.#commits = inPackOrder(links.commits.ordinals.view(), ids)
    this.#commitOf = new Uint32Array(numbers)
    for (const commit of this.#commits) {
      this.#commitOf[ids.numberOf(links.commits.ordinals.at(commit))] = commit + 1
    }
    this.#generations = new NumberTable(numbers)
    this.#expected = new NumberTable(numbers)
    this.#oldMarks = new NumberTable(numbers)
    this.#newMarks = new NumberTable(numbers)
    this.#levelMarks = new NumberTable(numbers)
    this.#listedTrees = new NumberTable(numbers)
  }

  async build(): Promise<BuiltGraph> {
    const { commits, tags } = this.#links
    const objectEnds = new Uint32Array(this.#commits.length)
    for (const [i, commit] of this.#commits.entries()) {
      for (const parent of commits.parents(commit)) this.#expect(parent, COMMIT)
      this.#expect(commits.trees.at(commit), TREE)
      await this.#listNewObjects(commit, i + 1)
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
  async #listNewObjects(commit: number, mark: number): Promise<void> {
    const { commits } = this.#links
    const root = commits.trees.at(commit)
    const oldRoots = new Set<number>()
    for (const parent of commits.parents(commit)) {
      const tree = this.#treeOf(parent)
      if (tree === root) return
      if (tree < 0) continue
      oldRoots.add(tree)
      this.#oldMarks.set(tree, mark)
    }
    let oldTrees = [...oldRoots]
    let newTrees = [root]
    this.#list(root, true, mark)
    while (newTrees.length > 0) {
      this.#level++
      await this.#fetch(oldTrees)
      await this.#fetch(newTrees)
      for (const tree of newTrees) this.#markLevel(this.#children(tree) ?? (await this.#load(tree)))
      const oldSubtrees: number[] = []
      for (const tree of oldTrees) this.#markOld(this.#children(tree) ?? (await this.#load(tree)), mark, oldSubtrees)
      const newSubtrees: number[] = []
      for (const tree of newTrees) this.#listNew(this.#children(tree) ?? (await this.#load(tree)), mark, newSubtrees)
      oldTrees = oldSubtrees
      newTrees = newSubtrees
    }
  }

  #markLevel(children: Uint32Array): void {
    for (const child of children) if (childIsTree(child)) this.#levelMarks.set(childNumber(child), this.#level)
    this.#count(children)
  }

  /** Marks what an old tree holds, and adds those subtrees that are worth a look: the new trees do not hold them as well. */
  #markOld(children: Uint32Array, mark: number, subtrees: number[]): void {
    for (const child of children) {
      const number = childNumber(child)
      if (this.#oldMarks.get(number) === mark) continue
      this.#oldMarks.set(number, mark)
      if (childIsTree(child) && this.#levelMarks.get(number) !== this.#level) subtrees.push(number)
    }
    this.#count(children)
  }

  #listNew(children: Uint32Array, mark: number, subtrees: number[]): void {
    for (const child of children) {
      const number = childNumber(child)
      if (this.#oldMarks.get(number) === mark || this.#newMarks.get(number) === mark) continue
      const isTree = childIsTree(child)
      this.#expect(number, isTree ? TREE : BLOB)
      this.#list(number, isTree, mark)
      if (isTree) subtrees.push(number)
    }
    this.#count(children)
  }

  #list(number: number, isTree: boolean, mark: number): void {
    this.#newMarks.set(number, mark)
    this.#listed.push(number)
    if (isTree) this.#listedTrees.set(number, 1)
  }

  #count(children: Uint32Array): void {
    this.#compared += children.length
    if (this.#compared > COMPARED_ENTRIES_LIMIT)
      throw new PackError('the history of the pack takes too long to compare')
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

  #children(tree: number): Uint32Array | null {
    return this.#unreadable.has(tree) ? NOTHING : this.#links.trees.get(tree)
  }

  /** Reads those trees that are not at hand, several at once; as many as stay are then there without waiting. */
  async #fetch(trees: readonly number[]): Promise<void> {
    const absent = trees.filter((tree) => this.#children(tree) === null)
    if (absent.length < 2) return
    await atOnce(absent, (tree) => this.#load(tree))
  }

  /** A tree's children, read from the pack or the store. None if the tree is nowhere: it is missed elsewhere. */
  async #load(tree: number): Promise<Uint32Array> {
    const oid = this.#ids.table.oidAt(tree)
    const source = this.#ids.ordinalOf(tree) >= 0 ? this.#objects : this.#known?.objects
    const object = (await source?.read(oid)) ?? null
    if (object?.type === TREE) {
      try {
        return this.#links.trees.addReread(tree, object.bytes)
      } catch (error) {
        if (!(error instanceof MalformedObjectError)) throw error
      }
    }
    this.#unreadable.add(tree)
    return NOTHING
  }

  /** Trees of the pack that no commit lists (a tag of a tree, or one that a parent has too): their links count as well. */
  async #expectLinksOfUnlistedTrees(): Promise<void> {
    for (let ordinal = 0; ordinal < this.#types.length; ordinal++) {
      const number = this.#ids.numberOf(ordinal)
      if (this.#types[ordinal] !== TREE || this.#listedTrees.get(number) === 1) continue
      const children = this.#children(number) ?? (await this.#load(number))
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
    await atOnce(elsewhere, async (number) => {
      const found = (await this.#known?.objects.stat(this.#ids.table.oidAt(number))) ?? null
      if (found === null) missing.add(number)
      else if (found.type !== this.#expected.get(number)) this.#mistyped.add(number)
    })
    // In the order of their numbers, whatever order the answers came in.
    return new Set(elsewhere.filter((number) => missing.has(number)))
  }

  #describeMistyped(number: number): string {
    const expected = objectTypeName(this.#expected.get(number) as ObjectType)
    return `${this.#ids.table.oidAt(number)}: not a ${expected}, or not everywhere, as what points at it says`
  }

  #write(objectEnds: Uint32Array, tagOrder: Uint32Array, missing: ReadonlySet<number>): Uint8Array {
    const { commits, tags } = this.#links
    const references = new References(this.#ids)
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

const NOTHING = new Uint32Array(0)

/** References to objects by number; see {@link PackGraph}. */
class References {
  readonly #ids: EntryIds
  readonly #external: number[] = []
  readonly #places = new Map<number, number>()

  constructor(ids: EntryIds) {
    this.#ids = ids
  }

  to(number: number): number {
    const ordinal = this.#ids.ordinalOf(number)
    if (ordinal >= 0) return ordinal
    let place = this.#places.get(number)
    if (place === undefined) {
      place = this.#external.push(number) - 1
      this.#places.set(number, place)
    }
    return EXTERNAL_REFERENCE + place
  }

  /** Raw ids of the objects outside of the pack that were referred to. */
  external(): Uint8Array {
    const bytes = new Uint8Array(this.#external.length * OID_BYTES)
    for (const [i, number] of this.#external.entries()) bytes.set(this.#ids.table.bytesAt(number), i * OID_BYTES)
    return bytes
  }
}

/** A value for every number, 0 at first. Numbers may still be given while it is in use. */
class NumberTable {
  #values: Uint32Array

  constructor(numbers: number) {
    this.#values = new Uint32Array(numbers)
  }

  get length(): number {
    return this.#values.length
  }

  get(number: number): number {
    return this.#values[number] ?? 0
  }

  set(number: number, value: number): void {
    if (number >= this.#values.length) {
      const larger = new Uint32Array(number * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[number] = value
  }
}

/** Places in a table of ordinals in the order of those; of entries that are the same object only the first. */
function inPackOrder(ordinals: Uint32Array, ids: EntryIds): Uint32Array {
  return Uint32Array.from(ordinals.keys())
    .filter((place) => ids.ordinalOf(ids.numberOf(ordinals[place]!)) === ordinals[place])
    .sort((a, b) => ordinals[a]! - ordinals[b]!)
}

async function atOnce<T>(items: readonly T[], task: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += READS_AT_ONCE) {
    await Promise.all(items.slice(at, at + READS_AT_ONCE).map(task))
  }
}

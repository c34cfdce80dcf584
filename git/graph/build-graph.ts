import { GrowingUint32 } from '../bytes/growing.ts'
import { OID_BYTES, type Oid, oidToBytes } from '../bytes/oid.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import type { EntryIds } from '../pack/entry-ids.ts'
import type { CommitGraph } from './commit-graph.ts'
import { type CommitLinkTable, childIsTree, childNumber, type ObjectLinks } from './object-links.ts'
import { EXTERNAL_REFERENCE, writePackGraph } from './pack-graph.ts'

/** What the repository held before the pack. */
export interface KnownObjects {
  readonly objects: ObjectSource
  readonly graph: CommitGraph
}

export interface BuiltGraph {
  /** The graph file (see {@link PackGraph}). */
  readonly file: Uint8Array
  /** Objects that the pack's objects need and nobody has, each once. */
  readonly missing: readonly Oid[]
}

/**
 * Makes the graph of a pack from the links of its objects, and finds out what they need that is not there.
 *
 * Two trees are compared level by level as sets of ids: what hangs below a tree and not below the old trees of that
 * level is new. Only trees that changed are looked at; of trees in other packs, those that lie on a changed path.
 */
export async function buildGraph(links: ObjectLinks, ids: EntryIds, known: KnownObjects | null): Promise<BuiltGraph> {
  return new GraphBuilder(links, ids, known).build()
}

class GraphBuilder {
  readonly #links: ObjectLinks
  readonly #ids: EntryIds
  readonly #known: KnownObjects | null
  readonly #references = new Map<number, number>()
  readonly #external: number[] = []
  readonly #missing = new Set<number>()
  /** Numbers of ids already looked up in the store: whether it has them. */
  readonly #present = new Map<number, boolean>()
  readonly #commitOf = new Map<number, CommitLinkTable>()
  readonly #generations = new Map<number, number>()
  /** By number: the commit (counted from 1) whose comparison last met this id on the old side or listed it as new. */
  #oldMarks: Uint32Array = new Uint32Array(0)
  #newMarks: Uint32Array = new Uint32Array(0)
  /** Trees that some commit lists: their links are checked there. */
  readonly #listedTrees = new Set<number>()
  readonly #objects = new GrowingUint32()

  constructor(links: ObjectLinks, ids: EntryIds, known: KnownObjects | null) {
    this.#links = links
    this.#ids = ids
    this.#known = known
  }

  async build(): Promise<BuiltGraph> {
    const commits = this.#links.commits.toSorted((a, b) => a.ordinal - b.ordinal)
    for (const commit of commits) this.#commitOf.set(this.#ids.numberOf(commit.ordinal), commit)
    const parents = new GrowingUint32()
    const parentEnds = new Uint32Array(commits.length)
    const objectEnds = new Uint32Array(commits.length)
    const generations = new Uint32Array(commits.length)
    for (const [i, commit] of commits.entries()) {
      for (const parent of commit.parents) {
        await this.#expect(parent)
        parents.push(this.#reference(parent))
      }
      parentEnds[i] = parents.length
      generations[i] = this.#generation(commit)
      await this.#listNewObjects(i + 1, commit)
      objectEnds[i] = this.#objects.length
    }
    const tags = this.#links.tags.toSorted((a, b) => a.ordinal - b.ordinal)
    for (const tag of tags) await this.#expect(tag.target)
    await this.#checkUnlistedTrees()
    const trees = Uint32Array.from(commits, (commit) => this.#reference(commit.tree))
    const tagTargets = Uint32Array.from(tags, (tag) => this.#reference(tag.target))
    const missing = Uint32Array.from(this.#missing, (number) => this.#reference(number))
    const external = new Uint8Array(this.#external.length * OID_BYTES)
    for (const [i, number] of this.#external.entries()) external.set(this.#ids.table.bytesAt(number), i * OID_BYTES)
    const file = writePackGraph({
      times: Float64Array.from(commits, (commit) => commit.time),
      ordinals: Uint32Array.from(commits, (commit) => commit.ordinal),
      trees,
      generations,
      parentEnds,
      parents: parents.view(),
      objectEnds,
      objects: this.#objects.view(),
      tagOrdinals: Uint32Array.from(tags, (tag) => tag.ordinal),
      tagTargets,
      tagTypes: Uint32Array.from(tags, (tag) => tag.type),
      missing,
      external,
    })
    return { file, missing: [...this.#missing].map((number) => this.#ids.table.oidAt(number)) }
  }

  #reference(number: number): number {
    const ordinal = this.#ids.ordinalOf(number)
    if (ordinal >= 0) return ordinal
    let reference = this.#references.get(number)
    if (reference === undefined) {
      reference = EXTERNAL_REFERENCE + this.#external.push(number) - 1
      this.#references.set(number, reference)
    }
    return reference
  }

  /** Notes an object that is needed as missing unless the pack or the store has it. */
  async #expect(number: number): Promise<boolean> {
    if (this.#ids.ordinalOf(number) >= 0) return true
    let present = this.#present.get(number)
    if (present === undefined) {
      present = (await this.#known?.objects.stat(this.#ids.table.oidAt(number))) != null
      this.#present.set(number, present)
      if (!present) this.#missing.add(number)
    }
    return present
  }

  /** 1 + the largest of the parents', found without recursion: histories are long. */
  #generation(commit: CommitLinkTable): number {
    const stack = [commit]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const number = this.#ids.numberOf(top.ordinal)
      let largest = 0
      let waiting = false
      for (const parent of top.parents) {
        const generation = this.#generations.get(parent)
        if (generation !== undefined) {
          largest = Math.max(largest, generation)
          continue
        }
        const inPack = this.#commitOf.get(parent)
        if (inPack !== undefined) {
          stack.push(inPack)
          waiting = true
        } else {
          const known = this.#knownCommit(parent)
          this.#generations.set(parent, known.generation)
          largest = Math.max(largest, known.generation)
        }
      }
      if (waiting) continue
      this.#generations.set(number, largest + 1)
      stack.pop()
    }
    return this.#generations.get(this.#ids.numberOf(commit.ordinal))!
  }

  #knownCommit(number: number): { tree: Oid | null; generation: number } {
    const graph = this.#known?.graph
    const commit = graph?.find(this.#ids.table.oidAt(number)) ?? -1
    if (!graph || commit < 0) return { tree: null, generation: 0 }
    return { tree: graph.tree(commit), generation: graph.generation(commit) }
  }

  /** The number of a parent's tree, or -1 if the parent is not there. */
  #treeOf(parent: number): number {
    const inPack = this.#commitOf.get(parent)
    if (inPack !== undefined) return inPack.tree
    const { tree } = this.#knownCommit(parent)
    return tree === null ? -1 : this.#ids.table.intern(oidToBytes(tree))
  }

  async #listNewObjects(mark: number, commit: CommitLinkTable): Promise<void> {
    let oldTrees: number[] = []
    for (const parent of commit.parents) {
      const tree = this.#treeOf(parent)
      if (tree >= 0 && !oldTrees.includes(tree)) oldTrees.push(tree)
    }
    if (oldTrees.includes(commit.tree)) return
    let newTrees = [commit.tree]
    this.#markNew(commit.tree, mark)
    await this.#list(commit.tree, true)
    while (newTrees.length > 0) {
      oldTrees = await this.#markOldChildren(oldTrees, newTrees, mark)
      newTrees = await this.#listNewChildren(newTrees, mark)
    }
  }

  /** Marks what the old trees hold. @returns those of their subtrees that the new trees do not hold as well. */
  async #markOldChildren(oldTrees: number[], newTrees: number[], mark: number): Promise<number[]> {
    const subtrees: number[] = []
    for (const tree of oldTrees) {
      if (!(await this.#loadTree(tree))) continue
      for (const child of this.#links.children(tree)) {
        const number = childNumber(child)
        if (this.#oldMark(number) === mark) continue
        this.#markOld(number, mark)
        if (childIsTree(child)) subtrees.push(number)
      }
    }
    if (subtrees.length === 0) return subtrees
    const kept = new Set<number>()
    for (const tree of newTrees) {
      if (!(await this.#loadTree(tree))) continue
      for (const child of this.#links.children(tree)) if (childIsTree(child)) kept.add(childNumber(child))
    }
    return subtrees.filter((tree) => !kept.has(tree))
  }

  async #listNewChildren(newTrees: number[], mark: number): Promise<number[]> {
    const subtrees: number[] = []
    for (const tree of newTrees) {
      if (!(await this.#loadTree(tree))) continue
      for (const child of this.#links.children(tree)) {
        const number = childNumber(child)
        if (this.#oldMark(number) === mark || this.#newMark(number) === mark) continue
        this.#markNew(number, mark)
        await this.#list(number, childIsTree(child))
        if (childIsTree(child)) subtrees.push(number)
      }
    }
    return subtrees
  }

  async #list(number: number, isTree: boolean): Promise<void> {
    if (!(await this.#expect(number))) return
    this.#objects.push(this.#reference(number))
    if (isTree) this.#listedTrees.add(number)
  }

  /** Has a tree's children at hand, from the store if need be. @returns false if the tree is nowhere. */
  async #loadTree(number: number): Promise<boolean> {
    if (this.#links.hasTree(number)) return true
    if (this.#ids.ordinalOf(number) >= 0 || !this.#known) return false
    const object = await this.#known.objects.read(this.#ids.table.oidAt(number))
    if (object?.type !== TREE) return false
    this.#links.addTree(this.#ids.table.bytesAt(number).slice(), object.bytes)
    return true
  }

  /** Trees of the pack that no commit lists (a tag of a tree, or one that a parent has too): their links count as well. */
  async #checkUnlistedTrees(): Promise<void> {
    const numbers = this.#ids.table.size
    for (let number = 0; number < numbers; number++) {
      if (this.#ids.ordinalOf(number) < 0 || this.#listedTrees.has(number) || !this.#links.hasTree(number)) continue
      for (const child of this.#links.children(number)) await this.#expect(childNumber(child))
    }
  }

  #oldMark(number: number): number {
    return this.#oldMarks[number] ?? 0
  }

  #newMark(number: number): number {
    return this.#newMarks[number] ?? 0
  }

  #markOld(number: number, mark: number): void {
    if (number >= this.#oldMarks.length) this.#oldMarks = grown(this.#oldMarks, this.#ids.table.size)
    this.#oldMarks[number] = mark
  }

  #markNew(number: number, mark: number): void {
    if (number >= this.#newMarks.length) this.#newMarks = grown(this.#newMarks, this.#ids.table.size)
    this.#newMarks[number] = mark
  }
}

function grown(table: Uint32Array, size: number): Uint32Array {
  const larger = new Uint32Array(size * 2)
  larger.set(table)
  return larger
}

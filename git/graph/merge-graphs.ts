import { GrowingUint32 } from '../bytes/growing.ts'
import type { BufferHolder, MemoryAccount } from '../bytes/memory-account.ts'
import { OidTable } from '../bytes/oid-table.ts'
import type { MergePlan } from '../pack/merge-plan.ts'
import { createPackGraph, EXTERNAL_REFERENCE, type PackGraph, packGraphBytes } from './pack-graph.ts'

/**
 * The graph file of a merged pack, from the graphs of the packs that it was merged from, in the plan's order. Lists
 * stay as they are: they depend on the commits alone, and only what names an object is renumbered.
 *
 * @param memory where the buffers held are entered
 */
export function mergeGraphs(plan: MergePlan, graphs: readonly PackGraph[], memory?: MemoryAccount): Uint8Array {
  const merger = new GraphMerger(plan, graphs)
  memory?.enter(merger)
  try {
    return merger.merge(memory)
  } finally {
    memory?.leave(merger)
  }
}

/** Goes over the graphs twice: to count and to number what is external, and to write. */
class GraphMerger implements BufferHolder {
  readonly #plan: MergePlan
  readonly #graphs: readonly PackGraph[]
  readonly #external = new OidTable()
  readonly #references: readonly References[]
  readonly #missing = new GrowingUint32()

  constructor(plan: MergePlan, graphs: readonly PackGraph[]) {
    this.#plan = plan
    this.#graphs = graphs
    this.#references = graphs.map((graph, pack) => new References(plan, pack, graph, this.#external))
  }

  get heldBytes(): number {
    const own = this.#external.heldBytes + this.#missing.heldBytes
    return this.#references.reduce((sum, { heldBytes }) => sum + heldBytes, own)
  }

  merge(memory: MemoryAccount | undefined): Uint8Array {
    const counts = this.#count()
    memory?.check(packGraphBytes(counts))
    const { file, tables } = createPackGraph(counts)
    let commit = 0
    let parent = 0
    let object = 0
    let tag = 0
    for (const [pack, graph] of this.#graphs.entries()) {
      const references = this.#references[pack]!
      for (const local of this.#commits(pack)) {
        tables.times[commit] = graph.times[local]!
        tables.ordinals[commit] = this.#plan.ordinal(pack, graph.ordinals[local]!)
        tables.trees[commit] = references.to(graph.trees[local]!)
        tables.generations[commit] = graph.generations[local]!
        for (const reference of graph.parents(local)) tables.parents[parent++] = references.to(reference)
        tables.parentEnds[commit] = parent
        for (const reference of graph.objects(local)) tables.objects[object++] = references.to(reference)
        tables.objectEnds[commit] = object
        commit++
      }
      for (const local of this.#tags(pack)) {
        tables.tagOrdinals[tag] = this.#plan.ordinal(pack, graph.tagOrdinals[local]!)
        tables.tagTargets[tag] = references.to(graph.tagTargets[local]!)
        tables.tagTypes[tag] = graph.tagType(local)
        tag++
      }
    }
    tables.missing.set(this.#missing.view())
    let share = 0
    let shared = 0
    for (const [pack, graph] of this.#graphs.entries()) {
      const references = this.#references[pack]!
      for (const [local, commit] of graph.shareCommits.entries()) {
        tables.shareCommits[share] = references.to(commit)
        for (const reference of graph.shared(local)) tables.shared[shared++] = references.to(reference)
        tables.shareEnds[share++] = shared
      }
    }
    tables.external.set(this.#external.view())
    return file
  }

  #count() {
    let commits = 0
    let parents = 0
    let objects = 0
    let tags = 0
    let shares = 0
    let shared = 0
    for (const [pack, graph] of this.#graphs.entries()) {
      const references = this.#references[pack]!
      for (const local of this.#commits(pack)) {
        commits++
        references.to(graph.trees[local]!)
        for (const reference of graph.parents(local)) references.to(reference)
        for (const reference of graph.objects(local)) references.to(reference)
        parents += graph.parents(local).length
        objects += graph.objects(local).length
      }
      for (const local of this.#tags(pack)) {
        tags++
        references.to(graph.tagTargets[local]!)
      }
      shares += graph.shareCommits.length
      for (const [local, commit] of graph.shareCommits.entries()) {
        references.to(commit)
        shared += graph.shared(local).length
      }
      // One that has come meanwhile stays in the list: the commits that need it do not list it.
      for (const reference of graph.missing) this.#missing.push(references.to(reference))
    }
    this.#sortMissing()
    const [missing, external] = [this.#missing.length, this.#external.size]
    return { commits, parents, objects, tags, missing, external, shares, shared }
  }

  /** Each once. */
  #sortMissing(): void {
    const sorted = this.#missing.view().sort()
    let length = 0
    for (const [i, reference] of sorted.entries())
      if (i === 0 || reference !== sorted[i - 1]) sorted[length++] = reference
    this.#missing.truncate(length)
  }

  /** Those commits of a pack's graph that go into the merged one. */
  *#commits(pack: number): Generator<number, void, undefined> {
    const { commits, ordinals } = this.#graphs[pack]!
    const merged = this.#plan.selection[pack]!
    for (let commit = 0; commit < commits; commit++) if (merged.has(ordinals[commit]!)) yield commit
  }

  *#tags(pack: number): Generator<number, void, undefined> {
    const { tags, tagOrdinals } = this.#graphs[pack]!
    const merged = this.#plan.selection[pack]!
    for (let tag = 0; tag < tags; tag++) if (merged.has(tagOrdinals[tag]!)) yield tag
  }
}

const UNKNOWN = 0xffffffff

/** References of one pack's graph, as the merged pack's graph has them. */
class References {
  readonly #plan: MergePlan
  readonly #pack: number
  readonly #graph: PackGraph
  readonly #external: OidTable
  /** What has become of the pack's external references. */
  readonly #places: Uint32Array

  constructor(plan: MergePlan, pack: number, graph: PackGraph, external: OidTable) {
    this.#plan = plan
    this.#pack = pack
    this.#graph = graph
    this.#external = external
    this.#places = new Uint32Array(graph.externals).fill(UNKNOWN)
  }

  get heldBytes(): number {
    return this.#places.byteLength
  }

  to(reference: number): number {
    if (reference < EXTERNAL_REFERENCE) return this.#plan.ordinal(this.#pack, reference)
    const place = reference - EXTERNAL_REFERENCE
    if (this.#places[place] === UNKNOWN) this.#places[place] = this.#place(reference)
    return this.#places[place]!
  }

  #place(reference: number): number {
    const oid = this.#graph.externalBytes(reference)
    const ordinal = this.#plan.find(oid)
    return ordinal >= 0 ? ordinal : EXTERNAL_REFERENCE + this.#external.intern(oid)
  }
}

import { GrowingUint32 } from '../bytes/growing.ts'
import { OidTable } from '../bytes/oid-table.ts'
import type { MergePlan } from '../pack/merge-plan.ts'
import { EXTERNAL_REFERENCE, type PackGraph, writePackGraph } from './pack-graph.ts'

/**
 * The graph file of a merged pack, from the graphs of the packs that it was merged from, in the plan's order. Lists
 * stay as they are: they depend on the commits alone, and only what names an object is renumbered.
 */
export function mergeGraphs(plan: MergePlan, graphs: readonly PackGraph[]): Uint8Array {
  const external = new OidTable()
  const times: number[] = []
  const ordinals = new GrowingUint32()
  const trees = new GrowingUint32()
  const generations = new GrowingUint32()
  const parentEnds = new GrowingUint32()
  const parents = new GrowingUint32()
  const objectEnds = new GrowingUint32()
  const objects = new GrowingUint32()
  const tagOrdinals = new GrowingUint32()
  const tagTargets = new GrowingUint32()
  const tagTypes = new GrowingUint32()
  const missing = new Set<number>()
  for (const [pack, graph] of graphs.entries()) {
    const merged = plan.selection[pack]!
    const references = new References(plan, pack, graph, external)
    for (let commit = 0; commit < graph.commits; commit++) {
      const ordinal = graph.ordinals[commit]!
      if (!merged.has(ordinal)) continue
      times.push(graph.times[commit]!)
      ordinals.push(plan.ordinal(pack, ordinal))
      trees.push(references.to(graph.trees[commit]!))
      generations.push(graph.generations[commit]!)
      for (const parent of graph.parents(commit)) parents.push(references.to(parent))
      parentEnds.push(parents.length)
      for (const object of graph.objects(commit)) objects.push(references.to(object))
      objectEnds.push(objects.length)
    }
    for (let tag = 0; tag < graph.tags; tag++) {
      const ordinal = graph.tagOrdinals[tag]!
      if (!merged.has(ordinal)) continue
      tagOrdinals.push(plan.ordinal(pack, ordinal))
      tagTargets.push(references.to(graph.tagTargets[tag]!))
      tagTypes.push(graph.tagType(tag))
    }
    // One that has come meanwhile stays in the list: the commits that need it do not list it.
    for (const reference of graph.missing) missing.add(references.to(reference))
  }
  return writePackGraph({
    times: Float64Array.from(times),
    ordinals: ordinals.view(),
    trees: trees.view(),
    generations: generations.view(),
    parentEnds: parentEnds.view(),
    parents: parents.view(),
    objectEnds: objectEnds.view(),
    objects: objects.view(),
    tagOrdinals: tagOrdinals.view(),
    tagTargets: tagTargets.view(),
    tagTypes: tagTypes.view(),
    missing: Uint32Array.from(missing),
    external: external.bytes(),
  })
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

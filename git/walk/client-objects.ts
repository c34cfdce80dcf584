import { Bitmap } from '../bytes/bitmap.ts'
import type { RepositoryGraph } from '../graph/repository-graph.ts'
import { findPlace, makePlace, ordinalOf, packOf, type Selection, select, selects } from '../pack/object-place.ts'
import { walkCommits } from './walk-commits.ts'

/**
 * What a client has because it has some commits: these, all that they reach, and their trees and blobs.
 *
 * The whole is never made. It is asked for the few objects that deltas stand on, and looked through from the client's
 * commits downwards until all are found, which mostly is at once.
 */
export class ClientObjects {
  readonly #graph: RepositoryGraph
  readonly #commits: readonly number[]
  readonly #ends: ReadonlySet<number>

  /** @param ends commits whose parents the client does not have (it is shallow there) */
  constructor(graph: RepositoryGraph, commits: readonly number[], ends: ReadonlySet<number>) {
    this.#graph = graph
    this.#commits = commits
    this.#ends = ends
  }

  /** Those of some objects that the client has. Places are those of the oldest pack with the object. */
  among(candidates: Selection): Selection {
    const { packs } = this.#graph
    const search = new ObjectSearch(packs, candidates)
    for (const commit of walkCommits(this.#graph, search.isDone ? [] : this.#commits, this.#ends)) {
      const pack = this.#graph.packIndex(commit)
      const local = this.#graph.local(commit)
      const { graph } = packs[pack]!
      search.meet(pack, graph.ordinals[local]!)
      for (const reference of graph.objects(local)) {
        const place = this.#graph.place(pack, reference)
        if (place >= 0) search.meet(packOf(place), ordinalOf(place))
      }
      if (this.#graph.hasShares) {
        for (const other of packs.keys()) {
          for (const ordinal of this.#graph.shared(other, commit)) search.meet(other, ordinal)
        }
      }
      if (search.isDone) break
    }
    return search.found
  }
}

class ObjectSearch {
  readonly found: Selection
  readonly #packs: RepositoryGraph['packs']
  /** The candidates, at every place where they lie. */
  readonly #wanted: Selection
  #left = 0

  constructor(packs: RepositoryGraph['packs'], candidates: Selection) {
    this.#packs = packs
    this.found = packs.map(({ index }) => new Bitmap(index.entries))
    this.#wanted = packs.map(({ index }) => new Bitmap(index.entries))
    for (const [pack, ordinals] of candidates.entries()) {
      for (const ordinal of ordinals) this.#want(pack, ordinal)
    }
  }

  get isDone(): boolean {
    return this.#left === 0
  }

  meet(pack: number, ordinal: number): void {
    if (!this.#wanted[pack]!.has(ordinal)) return
    const place = findPlace(this.#packs, this.#packs[pack]!.index.oidBytes(ordinal))
    if (selects(this.found, place)) return
    select(this.found, place)
    this.#left--
  }

  #want(pack: number, ordinal: number): void {
    this.#left++
    this.#wanted[pack]!.set(ordinal)
    const oid = this.#packs[pack]!.index.oidBytes(ordinal)
    for (const [other, { index }] of this.#packs.entries()) {
      const copy = index.find(oid)
      if (copy >= 0) select(this.#wanted, makePlace(other, copy))
    }
  }
}

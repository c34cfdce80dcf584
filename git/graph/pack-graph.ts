import { OID_BYTES, type Oid, oidFromBytes } from '../bytes/oid.ts'
import type { ObjectType } from '../object/object-type.ts'

/**
 * The graph beside a pack: for every commit in the pack its parents, tree, time and generation, and the objects that
 * its tree has and none of its parents' trees have. The union of those lists over the commits that a client wants
 * and lacks completes it: an object of a wanted commit's tree is either new in that commit or in the tree of a
 * parent. So a fetch is planned without reading one tree.
 *
 * A *reference* is a u32 that names an object: the ordinal of an entry of the same pack, or 2^31 + a place in
 * `external` for one that other packs hold. Layout, little-endian:
 *
 * | table | bytes | content |
 * |---|---|---|
 * | header | 32 | magic `SKGR`, version, commits, parents, objects, external, tags, missing |
 * | times | 8 × commits | f64: committer time in seconds since 1970 |
 * | ordinals | 4 × commits | u32: the commit's entry; ascending |
 * | trees | 4 × commits | reference |
 * | generations | 4 × commits | u32: 1 for a root, else 1 + the largest of the parents' |
 * | parent ends | 4 × commits | u32: where the commit's parents end in `parents`; they start where the one before ends |
 * | parents | 4 × parents | reference |
 * | object ends | 4 × commits | u32: the same for `objects` |
 * | objects | 4 × objects | reference: trees, blobs (and no submodule commits) |
 * | tag ordinals | 4 × tags | u32: the tag object's entry |
 * | tag targets | 4 × tags | reference |
 * | tag types | 4 × tags | u32: the type that the tag gives its target |
 * | missing | 4 × missing | references that neither this pack nor the store had when the graph was made |
 * | external | 20 × external | object ids |
 */
export const PACK_GRAPH_MAGIC = 0x52474b53
export const PACK_GRAPH_VERSION = 1
export const PACK_GRAPH_HEADER_BYTES = 32
export const EXTERNAL_REFERENCE = 0x80000000

/** The graph is not one that this version wrote. It can be made anew from the pack. */
export class PackGraphError extends Error {
  override name = 'PackGraphError'
}

export class PackGraph {
  readonly commits: number
  readonly tags: number
  /** Objects of other packs that references name. */
  readonly externals: number
  /** Bytes of this graph. */
  readonly byteLength: number
  /** Committer time of each commit, in seconds since 1970. */
  readonly times: Float64Array
  /** The entry of each commit in the pack, ascending. */
  readonly ordinals: Uint32Array
  /** The tree of each commit, as a reference. */
  readonly trees: Uint32Array
  readonly generations: Uint32Array
  readonly tagOrdinals: Uint32Array
  /** What each tag object points at, as a reference. */
  readonly tagTargets: Uint32Array
  /** References to objects that were nowhere when the graph was made: what needs them is not complete. */
  readonly missing: Uint32Array
  readonly #parentEnds: Uint32Array
  readonly #parents: Uint32Array
  readonly #objectEnds: Uint32Array
  readonly #objects: Uint32Array
  readonly #tagTypes: Uint32Array
  readonly #external: Uint8Array

  /** @throws {@link PackGraphError} */
  constructor(file: Uint8Array) {
    const aligned = file.byteOffset % 8 === 0 ? file : file.slice()
    if (aligned.length < PACK_GRAPH_HEADER_BYTES) throw new PackGraphError('graph is shorter than its header')
    const { buffer, byteOffset } = aligned
    const header = new Uint32Array(buffer, byteOffset, PACK_GRAPH_HEADER_BYTES / 4)
    if (header[0] !== PACK_GRAPH_MAGIC) throw new PackGraphError('not a pack graph')
    if (header[1] !== PACK_GRAPH_VERSION) throw new PackGraphError(`pack graph version ${header[1]} is not supported`)
    const [, , commits, parents, objects, external, tags, missing] = header as unknown as number[]
    const words = 4 * commits! + parents! + commits! + objects! + 3 * tags! + missing!
    const length = PACK_GRAPH_HEADER_BYTES + 8 * commits! + 4 * words + OID_BYTES * external!
    if (length !== aligned.length) throw new PackGraphError('graph has the wrong length')
    let at = byteOffset + PACK_GRAPH_HEADER_BYTES
    const takeWords = (n: number) => {
      const table = new Uint32Array(buffer, at, n)
      at += 4 * n
      return table
    }
    this.byteLength = file.length
    this.commits = commits!
    this.tags = tags!
    this.externals = external!
    this.times = new Float64Array(buffer, at, commits!)
    at += 8 * commits!
    this.ordinals = takeWords(commits!)
    this.trees = takeWords(commits!)
    this.generations = takeWords(commits!)
    this.#parentEnds = takeWords(commits!)
    this.#parents = takeWords(parents!)
    this.#objectEnds = takeWords(commits!)
    this.#objects = takeWords(objects!)
    this.tagOrdinals = takeWords(tags!)
    this.tagTargets = takeWords(tags!)
    this.#tagTypes = takeWords(tags!)
    this.missing = takeWords(missing!)
    this.#external = new Uint8Array(buffer, at, external! * OID_BYTES)
  }

  /** The parents of a commit in their order, as references. */
  parents(commit: number): Uint32Array {
    return this.#parents.subarray(commit === 0 ? 0 : this.#parentEnds[commit - 1], this.#parentEnds[commit])
  }

  /** The trees and blobs that are new in a commit, as references, each once. */
  objects(commit: number): Uint32Array {
    return this.#objects.subarray(commit === 0 ? 0 : this.#objectEnds[commit - 1], this.#objectEnds[commit])
  }

  tagType(tag: number): ObjectType {
    return this.#tagTypes[tag] as ObjectType
  }

  /** The raw id behind a reference of at least {@link EXTERNAL_REFERENCE}, as a view. */
  externalBytes(reference: number): Uint8Array {
    const at = (reference - EXTERNAL_REFERENCE) * OID_BYTES
    return this.#external.subarray(at, at + OID_BYTES)
  }

  external(reference: number): Oid {
    return oidFromBytes(this.#external, (reference - EXTERNAL_REFERENCE) * OID_BYTES)
  }
}

/** How many values each table of a graph file has. */
export interface PackGraphCounts {
  readonly commits: number
  readonly parents: number
  readonly objects: number
  readonly tags: number
  readonly missing: number
  readonly external: number
}

/** The tables of a graph file, to be filled in. */
export interface PackGraphTables {
  readonly times: Float64Array
  readonly ordinals: Uint32Array
  readonly trees: Uint32Array
  readonly generations: Uint32Array
  readonly parentEnds: Uint32Array
  readonly parents: Uint32Array
  readonly objectEnds: Uint32Array
  readonly objects: Uint32Array
  readonly tagOrdinals: Uint32Array
  readonly tagTargets: Uint32Array
  readonly tagTypes: Uint32Array
  readonly missing: Uint32Array
  readonly external: Uint8Array
}

/** Bytes of a graph file. */
export function packGraphBytes({ commits, parents, objects, tags, missing, external }: PackGraphCounts): number {
  const words = 5 * commits + parents + objects + 3 * tags + missing
  return PACK_GRAPH_HEADER_BYTES + 8 * commits + 4 * words + OID_BYTES * external
}

/** A graph file that is complete once its tables are filled in. */
export function createPackGraph(counts: PackGraphCounts): {
  readonly file: Uint8Array
  readonly tables: PackGraphTables
} {
  const { commits, parents, objects, tags, missing, external } = counts
  const file = new Uint8Array(packGraphBytes(counts))
  new Uint32Array(file.buffer, 0, PACK_GRAPH_HEADER_BYTES / 4).set([
    PACK_GRAPH_MAGIC,
    PACK_GRAPH_VERSION,
    commits,
    parents,
    objects,
    external,
    tags,
    missing,
  ])
  const times = new Float64Array(file.buffer, PACK_GRAPH_HEADER_BYTES, commits)
  let at = PACK_GRAPH_HEADER_BYTES + times.byteLength
  const takeWords = (length: number) => {
    const table = new Uint32Array(file.buffer, at, length)
    at += table.byteLength
    return table
  }
  // Evaluated in the order in which they lie in the file.
  const words = {
    ordinals: takeWords(commits),
    trees: takeWords(commits),
    generations: takeWords(commits),
    parentEnds: takeWords(commits),
    parents: takeWords(parents),
    objectEnds: takeWords(commits),
    objects: takeWords(objects),
    tagOrdinals: takeWords(tags),
    tagTargets: takeWords(tags),
    tagTypes: takeWords(tags),
    missing: takeWords(missing),
  }
  return { file, tables: { times, ...words, external: file.subarray(at) } }
}

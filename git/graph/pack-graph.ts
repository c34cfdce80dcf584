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
 * | share commits | 4 × shares | reference: a commit of another pack |
 * | share ends | 4 × shares | u32: where the share's objects end in `shared` |
 * | shared | 4 × shared | reference: trees and blobs of this pack |
 * | external | 20 × external | object ids |
 *
 * A *share* is what this pack has of the list of a commit in another pack. Only packs that were cut from one have shares:
 * in what git writes all commits come first, so that the lists of those in the first part name the objects of all parts.
 * Each part has its share of them, in 4 bytes an object, where an external reference takes 24. Where there are shares,
 * the file is of version 2, and the header is 8 bytes longer: shares, shared.
 */
export const PACK_GRAPH_MAGIC = 0x52474b53
export const PACK_GRAPH_VERSION = 1
const SHARED_GRAPH_VERSION = 2
export const PACK_GRAPH_HEADER_BYTES = 32
const SHARED_GRAPH_HEADER_BYTES = 40
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
  /** Commits of other packs that objects of this one are new in, as references: the shares. */
  readonly shareCommits: Uint32Array
  readonly #parentEnds: Uint32Array
  readonly #parents: Uint32Array
  readonly #objectEnds: Uint32Array
  readonly #objects: Uint32Array
  readonly #tagTypes: Uint32Array
  readonly #shareEnds: Uint32Array
  readonly #shared: Uint32Array
  readonly #external: Uint8Array

  /** @throws {@link PackGraphError} */
  constructor(file: Uint8Array) {
    const aligned = file.byteOffset % 8 === 0 ? file : file.slice()
    if (aligned.length < PACK_GRAPH_HEADER_BYTES) throw new PackGraphError('graph is shorter than its header')
    const { buffer, byteOffset } = aligned
    const counts = readCounts(aligned)
    const { commits, parents, objects, external, tags, missing, shares, shared } = counts
    if (packGraphBytes(counts) !== aligned.length) throw new PackGraphError('graph has the wrong length')
    let at = byteOffset + headerBytes(counts)
    const takeWords = (n: number) => {
      const table = new Uint32Array(buffer, at, n)
      at += 4 * n
      return table
    }
    this.byteLength = file.length
    this.commits = commits
    this.tags = tags
    this.externals = external
    this.times = new Float64Array(buffer, at, commits)
    at += 8 * commits
    this.ordinals = takeWords(commits)
    this.trees = takeWords(commits)
    this.generations = takeWords(commits)
    this.#parentEnds = takeWords(commits)
    this.#parents = takeWords(parents)
    this.#objectEnds = takeWords(commits)
    this.#objects = takeWords(objects)
    this.tagOrdinals = takeWords(tags)
    this.tagTargets = takeWords(tags)
    this.#tagTypes = takeWords(tags)
    this.missing = takeWords(missing)
    this.shareCommits = takeWords(shares)
    this.#shareEnds = takeWords(shares)
    this.#shared = takeWords(shared)
    this.#external = new Uint8Array(buffer, at, external * OID_BYTES)
  }

  /** The parents of a commit in their order, as references. */
  parents(commit: number): Uint32Array {
    return this.#parents.subarray(commit === 0 ? 0 : this.#parentEnds[commit - 1], this.#parentEnds[commit])
  }

  /** The trees and blobs that are new in a commit, as references, each once. */
  objects(commit: number): Uint32Array {
    return this.#objects.subarray(commit === 0 ? 0 : this.#objectEnds[commit - 1], this.#objectEnds[commit])
  }

  /** The objects of a share, as references into this pack. */
  shared(share: number): Uint32Array {
    return this.#shared.subarray(share === 0 ? 0 : this.#shareEnds[share - 1], this.#shareEnds[share])
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
  readonly shares: number
  readonly shared: number
}

/** Of a pack whose lists are all its own. */
export const NO_SHARES = { shares: 0, shared: 0 }

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
  readonly shareCommits: Uint32Array
  readonly shareEnds: Uint32Array
  readonly shared: Uint32Array
  readonly external: Uint8Array
}

/** @throws {@link PackGraphError} */
function readCounts({ buffer, byteOffset, length }: Uint8Array): PackGraphCounts {
  const header = new Uint32Array(buffer, byteOffset, PACK_GRAPH_HEADER_BYTES / 4)
  const [magic, version, commits, parents, objects, external, tags, missing] = header as unknown as number[]
  if (magic !== PACK_GRAPH_MAGIC) throw new PackGraphError('not a pack graph')
  const own = { commits, parents, objects, external, tags, missing } as Omit<PackGraphCounts, 'shares' | 'shared'>
  if (version === PACK_GRAPH_VERSION) return { ...own, ...NO_SHARES }
  if (version !== SHARED_GRAPH_VERSION) throw new PackGraphError(`pack graph version ${version} is not supported`)
  if (length < SHARED_GRAPH_HEADER_BYTES) throw new PackGraphError('graph is shorter than its header')
  const [shares, shared] = new Uint32Array(buffer, byteOffset + PACK_GRAPH_HEADER_BYTES, 2) as unknown as number[]
  return { ...own, shares: shares!, shared: shared! }
}

function headerBytes({ shares }: PackGraphCounts): number {
  return shares === 0 ? PACK_GRAPH_HEADER_BYTES : SHARED_GRAPH_HEADER_BYTES
}

/** Bytes of a graph file. */
export function packGraphBytes(counts: PackGraphCounts): number {
  const { commits, parents, objects, tags, missing, external, shares, shared } = counts
  const words = 5 * commits + parents + objects + 3 * tags + missing + 2 * shares + shared
  return headerBytes(counts) + 8 * commits + 4 * words + OID_BYTES * external
}

/** A graph file that is complete once its tables are filled in. */
export function createPackGraph(counts: PackGraphCounts): {
  readonly file: Uint8Array
  readonly tables: PackGraphTables
} {
  const { commits, parents, objects, tags, missing, external, shares, shared } = counts
  const file = new Uint8Array(packGraphBytes(counts))
  const version = shares === 0 ? PACK_GRAPH_VERSION : SHARED_GRAPH_VERSION
  const header = [PACK_GRAPH_MAGIC, version, commits, parents, objects, external, tags, missing]
  if (shares > 0) header.push(shares, shared)
  new Uint32Array(file.buffer, 0, header.length).set(header)
  const times = new Float64Array(file.buffer, 4 * header.length, commits)
  let at = 4 * header.length + times.byteLength
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
    shareCommits: takeWords(shares),
    shareEnds: takeWords(shares),
    shared: takeWords(shared),
  }
  return { file, tables: { times, ...words, external: file.subarray(at) } }
}

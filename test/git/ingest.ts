import { oidFromBytes } from '../../git/bytes/oid.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import type { KnownObjects } from '../../git/graph/build-graph.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { type IngestedPack, type IngestOptions, ingestPack } from '../../git/graph/ingest-pack.ts'
import { EXTERNAL_REFERENCE, PackGraph } from '../../git/graph/pack-graph.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { inChunks } from './pack/pack-builder.ts'

/** A pack taken in, with all that it is read by. */
export interface TestPack {
  readonly bytes: Uint8Array
  readonly data: BufferRange
  readonly ingested: IngestedPack
  readonly index: PackIndex
  readonly graph: PackGraph
}

export interface TestIngestOptions extends Partial<IngestOptions> {
  /** Bytes a chunk. */
  readonly step?: number
  readonly earlier?: readonly TestPack[]
}

export async function ingest(bytes: Uint8Array, options: TestIngestOptions = {}): Promise<TestPack> {
  const data = new BufferRange(bytes)
  const ingested = await ingestPack({
    chunks: inChunks(bytes, options.step),
    reopen: async () => data,
    known: options.earlier ? knownIn(options.earlier) : null,
    strict: false,
    ...options,
  })
  return { bytes, data, ingested, index: new PackIndex(ingested.index), graph: new PackGraph(ingested.graph) }
}

export function knownIn(packs: readonly TestPack[]): KnownObjects {
  return { objects: new PackedObjects(packs), graph: new MapCommitGraph(packs) }
}

/** The object behind a reference of a pack's graph. */
export function referenceOid(pack: TestPack, reference: number): string {
  return reference >= EXTERNAL_REFERENCE ? pack.graph.external(reference) : pack.index.oid(reference)
}

/** {@link CommitGraph} by plain maps: slow, and evidently right. */
export class MapCommitGraph implements CommitGraph {
  readonly #oids: string[] = []
  readonly #commits: { parents: string[]; tree: string; time: number; generation: number }[] = []
  readonly #numbers = new Map<string, number>()

  constructor(packs: readonly TestPack[]) {
    for (const pack of packs) {
      for (let commit = 0; commit < pack.graph.commits; commit++) {
        const oid = pack.index.oid(pack.graph.ordinals[commit]!)
        if (this.#numbers.has(oid)) continue
        this.#numbers.set(oid, this.#oids.push(oid) - 1)
        this.#commits.push({
          parents: Array.from(pack.graph.parents(commit), (parent) => referenceOid(pack, parent)),
          tree: referenceOid(pack, pack.graph.trees[commit]!),
          time: pack.graph.times[commit]!,
          generation: pack.graph.generations[commit]!,
        })
      }
    }
  }

  get size(): number {
    return this.#oids.length
  }

  find(oid: string): number {
    return this.#numbers.get(oid) ?? -1
  }

  oid(commit: number): string {
    return this.#oids[commit]!
  }

  parents(commit: number): readonly number[] {
    return this.#commits[commit]!.parents.map((parent) => this.find(parent)).filter((parent) => parent >= 0)
  }

  tree(commit: number): string {
    return this.#commits[commit]!.tree
  }

  time(commit: number): number {
    return this.#commits[commit]!.time
  }

  generation(commit: number): number {
    return this.#commits[commit]!.generation
  }

  isComplete(commit: number): boolean {
    return this.#commits[commit]!.parents.every((parent) => this.#numbers.has(parent))
  }

  tagTarget(): null {
    return null
  }
}

/** Ids of the entries of an index, in pack order. */
export function entryOids(index: PackIndex): string[] {
  return Array.from({ length: index.entries }, (_, ordinal) => oidFromBytes(index.oidBytes(ordinal)))
}

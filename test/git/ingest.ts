import { oidFromBytes } from '../../git/bytes/oid.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import type { KnownObjects } from '../../git/graph/build-graph.ts'
import { type IngestedPack, type IngestOptions, ingestPack } from '../../git/graph/ingest-pack.ts'
import { EXTERNAL_REFERENCE, PackGraph } from '../../git/graph/pack-graph.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
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
  return { objects: new PackedObjects(packs), graph: new RepositoryGraph(packs) }
}

/** The object behind a reference of a pack's graph. */
export function referenceOid(pack: TestPack, reference: number): string {
  return reference >= EXTERNAL_REFERENCE ? pack.graph.external(reference) : pack.index.oid(reference)
}

/** Ids of the entries of an index, in pack order. */
export function entryOids(index: PackIndex): string[] {
  return Array.from({ length: index.entries }, (_, ordinal) => oidFromBytes(index.oidBytes(ordinal)))
}

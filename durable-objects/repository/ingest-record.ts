import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { MemoryAccount } from '../../git/bytes/memory-account.ts'
import { type IngestedPack, type IngestPhase, ingestPack } from '../../git/graph/ingest-pack.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { openPacks, withGraphs } from '../../storage/packs/open-packs.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import { R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'

export interface IngestDeps {
  readonly store: MirrorStore
  readonly client: PdsClient
  readonly bucket: R2Bucket
  /** Makes few packs of many; called after each that is taken in. */
  merge(): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
}

/** A pack's bytes are not where its record said: the account was compacted meanwhile. Read all of the account again. */
export class PackMovedError extends Error {
  override name = 'PackMovedError'
}

/**
 * Takes in one pack of the account: its bytes into R2, checked and indexed on the way, and then its row.
 *
 * @param isLastTry takes in a pack even if some of what its objects need is nowhere. Else it stays wanted, as long as
 *   there are other packs that may bring it.
 * @throws {@link PackError} if it cannot be read, {@link PackMovedError}, and what R2 and the PDS throw
 */
export async function ingestRecord(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: ManifestPack,
  isLastTry: boolean,
  onProgress: (phase: IngestPhase, done: number, total: number) => void,
): Promise<void> {
  const { store, bucket, log } = deps
  const { did, rkey } = address
  const source = store.source(pack.id)
  // A push may have brought it meanwhile.
  if (source === null) return
  const keys = packKeys(did, rkey, pack.id)
  const memory = new MemoryAccount()
  const packs = await openPacks(bucket, did, rkey, store.packs('ready'))
  for (const { data } of packs) memory.enter(data)
  const known = await withGraphs(packs)
  const upload = memory.enter(new PackUpload(bucket, keys.pack))
  const ingested = await ingestPack({
    chunks: source.blobs === null ? readKept(bucket, keys.pack) : readBlobs(deps, did, source.blobs, upload),
    // What came with the record is in R2 as it is.
    reopen: () => (source.blobs === null ? openKept(bucket, keys.pack) : upload.complete()),
    known:
      known.length === 0 ? null : { objects: memory.enter(new PackedObjects(known)), graph: RepositoryGraph.of(known) },
    strict: false,
    memory,
    onProgress,
  }).catch(async (error: unknown) => {
    await upload.abort()
    throw error
  })
  if (ingested.missing.length > 0 && !isLastTry && store.packs('wanted').length > 1) return
  logFaults(deps, address, pack, ingested)
  await Promise.all([bucket.put(keys.index, ingested.index), bucket.put(keys.graph, ingested.graph)])
  const { size, objects } = ingested
  log('pack-ingested', { did, rkey, pack: pack.id, size, objects, peakBytes: memory.peak })
  store.takeIn({ id: pack.id, size, objects }, source.replaces)
}

async function* readBlobs(
  { client }: IngestDeps,
  did: string,
  blobs: NonNullable<PackSource['blobs']>,
  upload: PackUpload,
): AsyncGenerator<Uint8Array> {
  for (const { cid, size } of blobs) {
    const blob = await client.getBlob(did, cid, size)
    if (blob === null) throw new PackMovedError(`the blob ${cid} is gone`)
    for await (const chunk of blob) {
      await upload.write(chunk)
      yield chunk
    }
  }
}

async function* readKept(bucket: R2Bucket, key: string): AsyncGenerator<Uint8Array> {
  const object = await bucket.get(key)
  if (object === null) throw new PackMovedError(`${key} is not in the bucket`)
  yield new Uint8Array(await object.arrayBuffer())
}

async function openKept(bucket: R2Bucket, key: string): Promise<R2Range> {
  const object = await bucket.head(key)
  if (object === null) throw new PackMovedError(`${key} is not in the bucket`)
  return new R2Range(bucket, key, object.size)
}

function logFaults(
  { log }: IngestDeps,
  { did, rkey }: RepositoryAddress,
  { id }: ManifestPack,
  { malformed, missing }: IngestedPack,
): void {
  for (const reason of malformed) log('object-malformed', { did, rkey, pack: id, reason })
  if (missing.length > 0) log('objects-missing', { did, rkey, pack: id, count: missing.length, first: missing[0] })
}

import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { type IngestedPack, type IngestPhase, ingestPack } from '../../git/graph/ingest-pack.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { MissingBaseError } from '../../git/pack/resolve-deltas.ts'
import type { MirrorPack, MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { openHandles } from '../../storage/packs/open-packs.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import { R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'
import { brokenRefs } from './broken-refs.ts'

export interface IngestDeps {
  readonly store: MirrorStore
  readonly client: PdsClient
  readonly bucket: R2Bucket
  log(event: string, fields: Record<string, unknown>): void
}

/** Blobs that the account named are gone: it was compacted meanwhile. Read the account again. */
export class PackMovedError extends Error {
  override name = 'PackMovedError'
}

/**
 * Takes in every wanted pack, oldest first, since later ones may build on earlier ones; what turns out to build on one
 * that is not there yet comes again after the others. Then the refs are checked. Each pack becomes visible as it is
 * done, so that a run that is cut short has lost nothing but the pack it was at.
 *
 * @param onProgress is told lines for a person.
 */
export async function ingestWanted(
  deps: IngestDeps,
  address: RepositoryAddress,
  onProgress: (line: string) => void,
): Promise<void> {
  const { store, bucket } = deps
  let wanted = store.packs('wanted')
  for (let isLastTry = false; wanted.length > 0; ) {
    for (const [i, pack] of wanted.entries()) {
      const label = wanted.length === 1 ? 'Mirroring' : `Mirroring pack ${i + 1}/${wanted.length}`
      await ingestOrBreak(deps, address, pack, isLastTry, (phase, done, total) => {
        const percent = Math.floor((100 * done) / Math.max(total, 1))
        onProgress(`${label}: ${phase} objects ${percent}% (${done}/${total})\r`)
      })
    }
    const left = store.packs('wanted')
    isLastTry = left.length === wanted.length
    wanted = left
  }
  const unchecked = store.uncheckedRefs()
  if (unchecked.length === 0) return
  const broken = brokenRefs(unchecked, await openHandles(bucket, address.did, address.rkey, store.packs('ready')))
  if (broken.length > 0) deps.log('refs-broken', { ...address, refs: broken })
  store.settleRefs(broken)
}

/** Takes a pack in, leaves it wanted if others may have what it lacks, or notes that it cannot be read. */
async function ingestOrBreak(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: MirrorPack,
  isLastTry: boolean,
  onProgress: (phase: IngestPhase, done: number, total: number) => void,
): Promise<void> {
  try {
    await ingestOne(deps, address, pack, isLastTry, onProgress)
  } catch (error) {
    if (error instanceof MissingBaseError && !isLastTry) return
    if (!(error instanceof PackError)) throw error
    // What cannot be read today cannot be read tomorrow either: a record and its blobs never change.
    deps.log('pack-broken', { ...address, pack: pack.id, reason: error.message })
    deps.store.breakPack(pack.id)
  }
}

async function ingestOne(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: MirrorPack,
  isLastTry: boolean,
  onProgress: (phase: IngestPhase, done: number, total: number) => void,
): Promise<void> {
  const { store, bucket } = deps
  const { did, rkey } = address
  const keys = packKeys(did, rkey, pack.id)
  const source = store.source(pack.id)
  const known = await openHandles(bucket, address.did, address.rkey, store.packs('ready'))
  const upload = source.blobs === null ? null : new PackUpload(bucket, keys.pack)
  try {
    const ingested = await ingestPack({
      chunks: upload === null ? readKept(bucket, keys.pack) : readBlobs(deps, did, source.blobs ?? [], upload),
      reopen: () => upload?.complete() ?? openKept(bucket, keys.pack),
      known: known.length === 0 ? null : { objects: new PackedObjects(known), graph: RepositoryGraph.of(known) },
      strict: false,
      onProgress,
    })
    if (ingested.missing.length > 0 && !isLastTry && store.packs('wanted').length > 1) return
    logFaults(deps, address, pack, ingested)
    await Promise.all([bucket.put(keys.index, ingested.index), bucket.put(keys.graph, ingested.graph)])
    store.addPack({ id: pack.id, size: ingested.size, objects: ingested.objects })
    store.removePacks(source.replaces)
  } catch (error) {
    await upload?.abort()
    throw error
  }
}

function logFaults(
  { log }: IngestDeps,
  { did, rkey }: RepositoryAddress,
  { id }: MirrorPack,
  { malformed, missing }: IngestedPack,
): void {
  for (const reason of malformed) log('object-malformed', { did, rkey, pack: id, reason })
  if (missing.length > 0) log('objects-missing', { did, rkey, pack: id, count: missing.length, first: missing[0] })
}

async function* readBlobs(
  { client }: IngestDeps,
  did: string,
  blobs: readonly { readonly cid: string; readonly size: number }[],
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

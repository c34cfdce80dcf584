import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { type IngestPhase, ingestPack } from '../../git/graph/ingest-pack.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { MirrorPack, MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { openPacks } from '../../storage/packs/open-packs.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import { R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'
import type { PackSource } from './read-account.ts'

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
 * Takes in every wanted pack, oldest first, since later ones may build on earlier ones. Each becomes visible as it is
 * done, so that a run that is cut short has lost nothing but the pack it was at.
 *
 * @param onProgress is told lines for a person.
 */
export async function ingestWanted(
  deps: IngestDeps,
  address: RepositoryAddress,
  onProgress: (line: string) => void,
): Promise<void> {
  const wanted = deps.store.packs('wanted')
  for (const [i, pack] of wanted.entries()) {
    const label = wanted.length === 1 ? 'Mirroring' : `Mirroring pack ${i + 1}/${wanted.length}`
    try {
      await ingestOne(deps, address, pack, (phase, done, total) => {
        onProgress(`${label}: ${phase} objects ${Math.floor((100 * done) / Math.max(total, 1))}% (${done}/${total})`)
      })
    } catch (error) {
      if (!(error instanceof PackError)) throw error
      // What cannot be read today cannot be read tomorrow either: the bytes are addressed by their hash.
      deps.log('pack-broken', { ...address, pack: pack.id, reason: error.message })
      deps.store.breakPack(pack.id)
    }
  }
}

async function ingestOne(
  deps: IngestDeps,
  { did, rkey }: RepositoryAddress,
  pack: MirrorPack,
  onProgress: (phase: IngestPhase, done: number, total: number) => void,
): Promise<void> {
  const { store, bucket } = deps
  const keys = packKeys(did, rkey, pack.id)
  const source = JSON.parse(store.source(pack.id) ?? '"kept"') as PackSource
  const known = await openKnown(bucket, did, rkey, store.packs('ready'))
  const upload = source === 'kept' ? null : new PackUpload(bucket, keys.pack)
  try {
    const ingested = await ingestPack({
      chunks: upload === null || source === 'kept' ? readKept(bucket, keys.pack) : readBlobs(deps, did, source, upload),
      reopen: () => upload?.complete() ?? openKept(bucket, keys.pack),
      known,
      strict: false,
      onProgress,
    })
    for (const reason of ingested.malformed) deps.log('object-malformed', { did, rkey, pack: pack.id, reason })
    if (ingested.missing.length > 0) {
      deps.log('objects-missing', {
        did,
        rkey,
        pack: pack.id,
        count: ingested.missing.length,
        first: ingested.missing[0],
      })
    }
    await Promise.all([bucket.put(keys.index, ingested.index), bucket.put(keys.graph, ingested.graph)])
    store.addPack({ id: pack.id, size: ingested.size, objects: ingested.objects })
  } catch (error) {
    await upload?.abort()
    throw error
  }
}

async function openKnown(bucket: R2Bucket, did: string, rkey: string, packs: readonly ManifestPack[]) {
  if (packs.length === 0) return null
  const open = await openPacks(bucket, did, rkey, packs)
  const handles = await Promise.all(open.map(async (pack) => ({ ...pack, graph: await pack.graph() })))
  return { objects: new PackedObjects(handles), graph: RepositoryGraph.of(handles) }
}

async function* readBlobs(
  { client }: IngestDeps,
  did: string,
  source: Exclude<PackSource, 'kept'>,
  upload: PackUpload,
): AsyncGenerator<Uint8Array> {
  for (const { cid, size } of source.blobs) {
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

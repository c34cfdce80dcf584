import { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { ByteRange } from '../../git/bytes/range.ts'
import { ingestPack } from '../../git/graph/ingest-pack.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import type { RepositoryAddress } from './answers.ts'
import {
  checkObjects,
  type IngestDeps,
  logFaults,
  mayBringMore,
  openKnown,
  requireListed,
  type TellStep,
} from './ingest-deps.ts'
import { PackArrival, PackMovedError } from './pack-arrival.ts'
import { splitRecord } from './split-record.ts'

/** Bytes of a stored pack that are read at a time. */
const PIECE_BYTES = 1024 * 1024

/**
 * Takes in one pack of the account: its bytes into R2, checked and indexed on the way, and then its row. A large one is
 * taken in by steps; what is left then is done when this is called again.
 *
 * @param isLastTry takes in a pack even if some of what its objects need is nowhere. Else it stays wanted, as long as
 *   there are other packs that may bring it.
 * @returns false if the turn is over before it is done
 * @throws {@link PackError} if it cannot be read, {@link PackMovedError}, and what R2 and the PDS throw
 */
export async function ingestRecord(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: ManifestPack,
  isLastTry: boolean,
  onProgress: TellStep,
): Promise<boolean> {
  const { store, limits } = deps
  const source = store.source(pack.id)
  // A push may have brought it meanwhile.
  if (source === null) return true
  const memory = new MemoryAccount()
  const isCut = pack.objects > limits.wholeEntries || pack.size > limits.wholeBytes
  const arrival = await PackArrival.open(deps, address, { pack, source, memory, isReadBack: !isCut })
  const tellBytes = (bytes: number) => onProgress('downloading bytes', bytes, pack.size)
  try {
    checkObjects(deps, pack.objects, source)
    if (isCut) {
      const isThere = await arrival.download(tellBytes)
      return isThere && (await splitRecord(deps, address, pack, source, isLastTry, onProgress))
    }
    if (!arrival.isFresh && !(await arrival.download(tellBytes))) return false
    await ingestWhole(deps, address, { pack, source, arrival, memory }, isLastTry, onProgress)
    return true
  } catch (error) {
    const cause = await arrival.leave(error)
    if (cause instanceof PackMovedError && store.source(pack.id) === null) return true
    throw cause
  }
}

interface Arriving {
  readonly pack: ManifestPack
  readonly source: PackSource
  readonly arrival: PackArrival
  readonly memory: MemoryAccount
}

async function ingestWhole(
  deps: IngestDeps,
  address: RepositoryAddress,
  { pack, source, arrival, memory }: Arriving,
  isLastTry: boolean,
  onProgress: TellStep,
): Promise<void> {
  const { store, bucket, logRoutine } = deps
  const { did, rkey } = address
  const ingested = await ingestPack({
    chunks: arrival.isFresh ? arrival.bytes() : allOf(await arrival.complete()),
    reopen: () => arrival.complete(),
    known: await openKnown(deps, address, memory),
    strict: false,
    memory,
    onProgress: (phase, done, total) => onProgress(`${phase} objects`, done, total),
  })
  if (!isLastTry && mayBringMore(store, ingested)) return
  if (ingested.missing.length > 0) requireListed(store)
  logFaults(deps, address, pack, ingested)
  const keys = packKeys(did, rkey, pack.id)
  await Promise.all([bucket.put(keys.index, ingested.index), bucket.put(keys.graph, ingested.graph)])
  const { size, objects } = ingested
  if (!store.takeIn({ id: pack.id, size, objects }, source)) throw new PackMovedError(`${pack.id} has changed`)
  logRoutine('pack-ingested', { did, rkey, pack: pack.id, size, objects, peakBytes: memory.peak })
}

function allOf(pack: ByteRange): AsyncIterable<Uint8Array> {
  return pack.pieces(0, pack.size, PIECE_BYTES)
}

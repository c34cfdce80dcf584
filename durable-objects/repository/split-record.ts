import { HeldArrays, MemoryAccount } from '../../git/bytes/memory-account.ts'
import { OID_BYTES } from '../../git/bytes/oid.ts'
import { linkParts } from '../../git/graph/link-parts.ts'
import { cutPack } from '../../git/pack/cut-pack.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import type { PackIndex } from '../../git/pack/pack-index.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { MissingBaseError } from '../../git/pack/resolve-deltas.ts'
import { PACK_HEADER_BYTES } from '../../git/pack/scan-pack.ts'
import { verifyPack } from '../../git/pack/verify-pack.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import type { Split } from '../../storage/mirror/pack-splits.ts'
import { openPacks } from '../../storage/packs/open-packs.ts'
import { packKeys, partOffsetsKey, partPackId } from '../../storage/packs/pack-keys.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import { ObjectGoneError, R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'
import { type IngestDeps, logFaults, mayBringMore, openKnown, requireListed, type TellStep } from './ingest-deps.ts'
import { PackMovedError } from './pack-arrival.ts'

/**
 * Takes in a pack that is too large to be taken in at once, and that is in R2 whole: it is cut into several. The parts
 * follow one another as in the pack, so what a delta stands on is in the same part or an older one. Each is written
 * down when its files are in R2. Once all are, their graphs are made, and then they come in the pack's place.
 *
 * @returns false if the turn is over before it is done
 * @throws {@link PackError} if it cannot be read, {@link PackMovedError} if its record is another now
 */
export async function splitRecord(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: ManifestPack,
  source: PackSource,
  isLastTry: boolean,
  onProgress: TellStep,
): Promise<boolean> {
  const { store, bucket } = deps
  const whole = new R2Range(bucket, packKeys(address.did, address.rkey, pack.id).pack, pack.size)
  try {
    let split = store.splits.state(pack.id)
    if (split === null) {
      split = await begin(deps, pack, source, whole)
      if (deps.isTurnOver()) return false
    }
    while (entriesOf(split) < split.entries) {
      split = await cutNext(deps, address, { pack, source, split, whole }, onProgress)
      if (deps.isTurnOver()) return false
    }
    await link(deps, address, pack, source, split, isLastTry, onProgress)
    return true
  } catch (error) {
    // Whatever R2 has lost, it is made again.
    if (error instanceof ObjectGoneError) store.splits.forget(pack.id)
    throw error
  }
}

async function begin(
  { store, limits, newStem }: IngestDeps,
  pack: ManifestPack,
  source: PackSource,
  whole: R2Range,
): Promise<Split> {
  const entries = await verifyPack(whole)
  if (entries > limits.entries) {
    throw new PackError(`the pack has ${entries} objects; a repository can be mirrored with ${limits.entries} at most`)
  }
  if (!store.isSource(pack.id, source)) throw new PackMovedError(`${pack.id} has changed`)
  const stem = newStem()
  store.splits.begin(pack.id, stem, entries)
  return { stem, entries, parts: [] }
}

function entriesOf({ parts }: Split): number {
  return parts.reduce((sum, { objects }) => sum + objects, 0)
}

interface Cutting {
  readonly pack: ManifestPack
  readonly source: PackSource
  readonly split: Split
  readonly whole: R2Range
}

async function cutNext(
  deps: IngestDeps,
  address: RepositoryAddress,
  { pack, source, split, whole }: Cutting,
  onProgress: TellStep,
): Promise<Split> {
  const { store, bucket, limits, logRoutine } = deps
  const { did, rkey } = address
  const memory = new MemoryAccount()
  const id = partPackId(split.stem, split.parts.length)
  const keys = packKeys(did, rkey, id)
  const upload = memory.enter(new PackUpload(bucket, keys.pack, { isReadBack: false }))
  memory.enter(whole)
  const done = entriesOf(split)
  const left = split.entries - done
  const before = await openPacks(bucket, did, rkey, split.parts)
  for (const { data } of before) memory.enter(data)
  const bases = await PartBases.open(bucket, address, split, before)
  memory.enter(bases)
  const known = await openKnown(deps, address, memory)
  const start = split.parts.at(-1)?.end ?? PACK_HEADER_BYTES
  try {
    const cut = await cutPack({
      whole,
      part: {
        start,
        entries: Math.min(limits.partEntries, left),
        bytes: limits.partBytes,
        baseBefore: (offset) => bases.find(offset),
      },
      store: memory.enter(new PackedObjects(before, { bases: known?.objects ?? null })),
      write: (chunk) => upload.write(chunk),
      onProgress: (phase, part) => onProgress(`${phase} objects`, done + part, split.entries),
      memory,
    })
    const end = cut.offsets[cut.entries]!
    if (cut.entries === left) checkEnd(end, pack)
    await upload.complete()
    await Promise.all([
      bucket.put(keys.index, cut.index),
      bucket.put(partOffsetsKey(did, rkey, id), cut.offsets.subarray(0, cut.entries)),
    ])
    if (!store.isSource(pack.id, source)) throw new PackMovedError(`${pack.id} has changed`)
    store.splits.addPart(pack.id, { id, size: cut.size, objects: cut.entries, end })
    store.noteProgress()
    const { size, entries: objects } = cut
    logRoutine('pack-part-ingested', { did, rkey, pack: pack.id, part: id, size, objects, peakBytes: memory.peak })
    return store.splits.state(pack.id)!
  } catch (error) {
    await upload.abort()
    throw error instanceof MissingBaseError ? new MissingBaseError(error.oid, MISSING_OR_LATER) : error
  }
}

const MISSING_OR_LATER =
  'is missing, or comes after it; in a pack as large as this one bases must come first, as git writes them'

function checkEnd(end: number, { size }: ManifestPack): void {
  if (end !== size - OID_BYTES) throw new PackError('bytes follow the last entry of the pack')
}

interface EarlierPart {
  readonly offsets: Float64Array
  readonly index: PackIndex
}

/** Tells ids of the entries of the parts before by where they were in the pack. */
class PartBases {
  readonly #parts: readonly EarlierPart[]
  readonly heldBytes: number

  static async open(
    bucket: R2Bucket,
    { did, rkey }: RepositoryAddress,
    { parts }: Split,
    packs: readonly { readonly index: PackIndex }[],
  ): Promise<PartBases> {
    const readOffsets = async (id: string) => {
      const key = partOffsetsKey(did, rkey, id)
      const object = await bucket.get(key)
      if (object === null) throw new ObjectGoneError(key)
      return new Float64Array(await object.arrayBuffer())
    }
    const offsets = await Promise.all(parts.map(({ id }) => readOffsets(id)))
    return new PartBases(packs.map(({ index }, i) => ({ index, offsets: offsets[i]! })))
  }

  private constructor(parts: readonly EarlierPart[]) {
    this.#parts = parts
    this.heldBytes = new HeldArrays(...parts.map(({ offsets }) => offsets)).heldBytes
  }

  find(offset: number): Uint8Array | null {
    const part = this.#parts.findLast(({ offsets }) => offsets[0]! <= offset)
    if (part === undefined) return null
    const { offsets, index } = part
    let low = 0
    let high = offsets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (offsets[middle]! < offset) low = middle + 1
      else high = middle
    }
    return offsets[low] === offset ? index.oidBytes(low) : null
  }
}

/** Makes the graphs of the parts, and shows them to readers in the pack's place. */
async function link(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: ManifestPack,
  source: PackSource,
  { parts }: Split,
  isLastTry: boolean,
  onProgress: TellStep,
): Promise<void> {
  const { store, bucket, logRoutine } = deps
  const { did, rkey } = address
  const memory = new MemoryAccount()
  const packs = await openPacks(bucket, did, rkey, parts)
  for (const { data } of packs) memory.enter(data)
  const linked = await linkParts(packs, {
    known: await openKnown(deps, address, memory),
    onProgress: (done, total) => onProgress('linking commits', done, total),
    memory,
  })
  if (!isLastTry && mayBringMore(store, linked)) return
  if (linked.missing.length > 0) requireListed(store)
  logFaults(deps, address, pack, linked)
  for (const [i, { id }] of parts.entries()) await bucket.put(packKeys(did, rkey, id).graph, linked.write(i))
  if (!store.takeInParts(pack.id, parts, source)) throw new PackMovedError(`${pack.id} has changed`)
  const { size, objects } = pack
  logRoutine('pack-ingested', { did, rkey, pack: pack.id, size, objects, parts: parts.length, peakBytes: memory.peak })
  await bucket.delete([packKeys(did, rkey, pack.id).pack, ...parts.map(({ id }) => partOffsetsKey(did, rkey, id))])
}

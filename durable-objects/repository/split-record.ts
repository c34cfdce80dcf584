import { MemoryAccount } from '../../git/bytes/memory-account.ts'
import { OID_BYTES } from '../../git/bytes/oid.ts'
import type { LinkInput } from '../../git/graph/link-files.ts'
import { isLinked, linkNext, relinked } from '../../git/graph/link-parts.ts'
import { cutPack } from '../../git/pack/cut-pack.ts'
import { EarlierParts } from '../../git/pack/earlier-parts.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { MissingBaseError } from '../../git/pack/resolve-deltas.ts'
import { PACK_HEADER_BYTES } from '../../git/pack/scan-pack.ts'
import { verifyPack } from '../../git/pack/verify-pack.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import type { Split } from '../../storage/mirror/pack-splits.ts'
import { packKeys, partBasesKey, partOffsetsKey, partPackId } from '../../storage/packs/pack-keys.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import { ObjectGoneError, R2Range } from '../../storage/packs/r2-range.ts'
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
import { PackMovedError } from './pack-arrival.ts'
import { deleteLinks, openParts, R2LinkFiles } from './split-files.ts'

/**
 * Takes in a pack that is too large to be taken in at once, and that is in R2 whole: it is cut into several. The parts
 * follow one another as in the pack, so what a delta stands on is in the same part or an older one. Each is written
 * down when its files are in R2. Once all are, they are linked, again by steps that are written down, and then they come
 * in the pack's place.
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
    return await link(deps, address, { pack, source, split, whole }, isLastTry, onProgress)
  } catch (error) {
    // Whatever R2 has lost, it is made again.
    if (error instanceof ObjectGoneError) store.splits.forget(pack.id)
    throw error
  }
}

async function begin(deps: IngestDeps, pack: ManifestPack, source: PackSource, whole: R2Range): Promise<Split> {
  const { store, newStem } = deps
  const entries = await verifyPack(whole)
  checkObjects(deps, entries, source)
  if (!store.isSource(pack.id, source)) throw new PackMovedError(`${pack.id} has changed`)
  const stem = newStem()
  store.splits.begin(pack.id, stem, entries)
  return { stem, entries, parts: [], links: null }
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
  const known = await openKnown(deps, address, memory)
  const parts = memory.enter(openParts(bucket, address, split.parts, known?.objects ?? null, memory))
  const earlier = memory.enter(new EarlierParts(parts, known?.objects ?? null, memory))
  const start = split.parts.at(-1)?.end ?? PACK_HEADER_BYTES
  try {
    const cut = await cutPack({
      whole,
      part: {
        start,
        entries: Math.min(limits.partEntries, left),
        bytes: limits.partBytes,
      },
      earlier,
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
      bucket.put(partBasesKey(did, rkey, id), cut.bases),
    ])
    if (!store.isSource(pack.id, source)) throw new PackMovedError(`${pack.id} has changed`)
    const files = { indexBytes: cut.index.byteLength, bases: cut.bases.length }
    store.splits.addPart(pack.id, { id, size: cut.size, objects: cut.entries, end, ...files })
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

/**
 * Makes the graphs of the parts, and shows them to readers in the pack's place.
 *
 * @returns false if the turn is over before it is done
 */
async function link(
  deps: IngestDeps,
  address: RepositoryAddress,
  { pack, source, split }: Cutting,
  isLastTry: boolean,
  onProgress: TellStep,
): Promise<boolean> {
  const { store, bucket, logRoutine } = deps
  const { did, rkey } = address
  const { parts } = split
  let peakBytes = 0
  for (let state = split.links; ; ) {
    const memory = new MemoryAccount()
    const input = await linkInput(deps, address, split, memory, onProgress)
    if (state !== null && state.missing !== null && !isLastTry && mayBringMore(store, { missing: state.missing })) {
      // Others may have changed what there is by the next time.
      store.splits.setLinks(pack.id, relinked(state))
      return true
    }
    if (isLinked(input, state)) {
      if (state.missing!.length > 0) requireListed(store)
      logFaults(deps, address, pack, { missing: state.missing!, malformed: [...state.malformed, ...state.mistyped] })
      if (!store.takeInParts(pack.id, parts, source)) throw new PackMovedError(`${pack.id} has changed`)
      break
    }
    state = await linkNext(input, state)
    if (!store.isSource(pack.id, source)) throw new PackMovedError(`${pack.id} has changed`)
    store.splits.setLinks(pack.id, state)
    store.noteProgress()
    peakBytes = Math.max(peakBytes, memory.peak)
    const { batches, lists, graphs } = state
    const done = { read: batches.at(-1)?.end ?? 0, lists: lists.length, graphs }
    logRoutine('pack-link-step', { did, rkey, pack: pack.id, ...done, peakBytes: memory.peak })
    if (deps.isTurnOver()) return false
  }
  const { size, objects } = pack
  logRoutine('pack-ingested', { did, rkey, pack: pack.id, size, objects, parts: parts.length, peakBytes })
  const keys = parts.flatMap(({ id }) => [partOffsetsKey(did, rkey, id), partBasesKey(did, rkey, id)])
  await bucket.delete([packKeys(did, rkey, pack.id).pack, ...keys])
  await deleteLinks(bucket, address, split.stem)
  return true
}

async function linkInput(
  deps: IngestDeps,
  address: RepositoryAddress,
  { stem, parts }: Split,
  memory: MemoryAccount,
  onProgress: TellStep,
): Promise<LinkInput> {
  const { bucket, limits } = deps
  const known = await openKnown(deps, address, memory)
  return {
    parts: openParts(bucket, address, parts, known?.objects ?? null, memory),
    known,
    files: new R2LinkFiles(bucket, address, stem, parts, memory),
    memory,
    limits: limits.link,
    onProgress: (pass, done, total) => onProgress(`linking ${pass}`, done, total),
  }
}

import { MemoryAccount, MemoryLimitError } from '../../git/bytes/memory-account.ts'
import { type MergeTarget, mergePacks } from '../../git/graph/merge-packs.ts'
import { PackGraph } from '../../git/graph/pack-graph.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { ObjectTooLargeError } from '../../git/pack/packed-entry.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import type { ReadyPack } from '../../storage/mirror/pack-merges.ts'
import { keepFiles, openPacks } from '../../storage/packs/open-packs.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { PackUpload } from '../../storage/packs/pack-upload.ts'
import type { RepositoryAddress } from './answers.ts'
import { packsToMerge } from './merge-policy.ts'

export interface MergeDeps {
  readonly store: MirrorStore
  readonly bucket: R2Bucket
  /** An id that no pack of the repository has had. */
  newId(): string
  log(event: string, fields: Record<string, unknown>): void
  /** What goes as it should. */
  logRoutine(event: string, fields: Record<string, unknown>): void
}

/**
 * Makes one pack of the newest ones until each is at least twice as large as the next. The files of the new pack come
 * first, under an id that nobody knows; then one transaction puts it in the place of the others. So whatever happens
 * on the way, readers have either all of the old packs or the new one, and what was begun is begun again.
 */
export async function mergeNewest(deps: MergeDeps, address: RepositoryAddress): Promise<void> {
  const { store } = deps
  for (let packs = store.merges.ready(); ; packs = store.merges.ready()) {
    const merged = packsToMerge(packs)
    if (merged.length === 0) return
    const older = packs.slice(0, packs.length - merged.length)
    if (!(await mergeOrSettle(deps, address, merged, older))) return
  }
}

/** So many packs may wait while more are coming: each is looked through for every object of the next. */
const MANY = 16

/** The same, but only where there are many packs: an account may have thousands, which are taken in one by one. */
export async function mergeMany(deps: MergeDeps, address: RepositoryAddress): Promise<void> {
  if (deps.store.merges.ready().length > MANY) await mergeNewest(deps, address)
}

async function mergeOrSettle(
  deps: MergeDeps,
  address: RepositoryAddress,
  merged: readonly ReadyPack[],
  older: readonly ReadyPack[],
): Promise<boolean> {
  const { store, log, logRoutine } = deps
  const { did, rkey } = address
  const ids = merged.map(({ id }) => id)
  try {
    const pack = await writeMerged(deps, address, merged, older)
    const isReplaced = store.merges.replace(pack, ids)
    if (!isReplaced) return false
    logRoutine('packs-merged', { did, rkey, merged: ids.length, ...pack, packs: older.length + 1 })
  } catch (error) {
    const isOfThePacks = error instanceof PackError || error instanceof ObjectTooLargeError
    if (!isOfThePacks && !(error instanceof MemoryLimitError)) throw error
    // It would fail the next time too, and the time after.
    log('merge-impossible', { did, rkey, packs: ids, reason: error.message })
    store.merges.settle(ids)
  }
  return true
}

async function writeMerged(
  { bucket, newId }: MergeDeps,
  { did, rkey }: RepositoryAddress,
  merged: readonly ManifestPack[],
  older: readonly ManifestPack[],
): Promise<ManifestPack & { readonly peakBytes: number }> {
  const id = newId()
  const keys = packKeys(did, rkey, id)
  const memory = new MemoryAccount()
  const upload = memory.enter(new PackUpload(bucket, keys.pack, { isReadBack: false }))
  const parts = await openPacks(bucket, did, rkey, merged)
  for (const { data } of parts) memory.enter(data)
  const openOlder = async () => {
    const packs = await openPacks(bucket, did, rkey, older)
    for (const { data } of packs) memory.enter(data)
    return memory.enter(new PackedObjects(packs))
  }
  // An index that is written is kept for readers, as the isolate keeps them, and is not held by the merge any more.
  let index: PackIndex | null = null
  const target: MergeTarget = {
    write: (chunk) => upload.write(chunk),
    end: async () => {
      await upload.complete()
      memory.leave(upload)
    },
    index: async (file) => {
      await bucket.put(keys.index, file)
      index = new PackIndex(file)
    },
    graph: async (file) => {
      await bucket.put(keys.graph, file)
      keepFiles(keys, index!, new PackGraph(file))
    },
  }
  try {
    const pack = await mergePacks(parts, target, { older: whenAsked(openOlder), memory })
    return { id, ...pack, peakBytes: memory.peak }
  } catch (error) {
    await upload.abort()
    throw error
  }
}

/** Objects that are rarely asked for: what it takes to read them is opened with the first. */
function whenAsked(open: () => Promise<ObjectSource>): ObjectSource {
  let source: Promise<ObjectSource> | null = null
  const opened = () => {
    source ??= open()
    return source
  }
  return {
    read: async (oid) => (await opened()).read(oid),
    stat: async (oid) => (await opened()).stat(oid),
  }
}

import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import type { RepositoryAddress } from './answers.ts'
import { type MergeDeps, mergeNewest } from './merge-newest.ts'
import { packsToMerge } from './merge-policy.ts'

/** How soon packs are merged after a push: those of a burst are merged at once. Milliseconds. */
const MERGE_AFTER = 1_000
/** Packs of which all files are deleted in one request: it takes a thousand keys. */
const DELETED_AT_ONCE = 300
/** How soon chores that went wrong are tried again; doubled with each failure. Milliseconds. */
const FIRST_RETRY = 60_000
const LAST_RETRY = 60 * 60_000

/** What is done for a mirror while nobody waits. Each step can be cut off and is begun again. */
export async function doChores(deps: MergeDeps, address: RepositoryAddress, now: number): Promise<void> {
  await deleteSuperseded(deps, address, now)
  await mergeNewest(deps, address)
}

/** When there is something to do next, in milliseconds since 1970, or null. */
export function nextChore({ merges }: MirrorStore, now: number): number | null {
  return packsToMerge(merges.ready()).length > 0 ? now + MERGE_AFTER : merges.nextSuperseded()
}

/** When chores are tried again after so many failures in a row, in milliseconds since 1970. */
export function retryChores(failures: number, now: number): number {
  return now + Math.min(FIRST_RETRY * 2 ** (failures - 1), LAST_RETRY)
}

async function deleteSuperseded(
  { store, bucket }: MergeDeps,
  { did, rkey }: RepositoryAddress,
  now: number,
): Promise<void> {
  const ids = store.merges.supersededBefore(now)
  for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
    const some = ids.slice(at, at + DELETED_AT_ONCE)
    // One whose files were lost, and that was taken in again, has them under the same names.
    const unused = some.filter((id) => !['wanted', 'ready'].includes(store.packState(id) ?? ''))
    if (unused.length > 0) await bucket.delete(unused.flatMap((id) => Object.values(packKeys(did, rkey, id))))
    store.merges.forgetSuperseded(some)
  }
}

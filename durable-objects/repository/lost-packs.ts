import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { listObjects } from '../../storage/packs/list-objects.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import type { RepositoryAddress } from './answers.ts'

/**
 * Ids of the packs that readers are told of, and of which a file is not in R2; of those that the mirror has made, also
 * the account's packs that are in them, and all packs that those are in.
 */
export async function findLostPacks(
  bucket: R2Bucket,
  store: MirrorStore,
  { did, rkey }: RepositoryAddress,
): Promise<Set<string>> {
  // First the rows, then what there is: a pack that is taken in meanwhile is not lost.
  const ready = store.packs('ready')
  const keys = new Set<string>()
  for await (const objects of listObjects(bucket, did, rkey)) for (const { key } of objects) keys.add(key)
  const isLost = (id: string) => Object.values(packKeys(did, rkey, id)).some((key) => !keys.has(key))
  return withRelated(store, ready.map(({ id }) => id).filter(isLost))
}

/**
 * A pack of the account that is read again is read whole: all packs that it is in are made anew, and so is what else is in
 * those.
 */
function withRelated({ merges }: MirrorStore, lost: readonly string[]): Set<string> {
  const all = new Set(lost)
  for (let made = [...lost]; made.length > 0; ) {
    const parts = merges.partsOf(made)
    for (const id of parts) all.add(id)
    made = merges.containersOf(parts).filter((id) => !all.has(id))
    for (const id of made) all.add(id)
  }
  return all
}

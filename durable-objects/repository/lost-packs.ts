import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { listObjects } from '../../storage/packs/list-objects.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import type { RepositoryAddress } from './answers.ts'

/**
 * Ids of the packs that readers are told of, and of which a file is not in R2; of those that the mirror has made, also
 * the account's packs that are in them.
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
  const lost = ready.map(({ id }) => id).filter(isLost)
  return new Set([...lost, ...store.merges.partsOf(lost)])
}

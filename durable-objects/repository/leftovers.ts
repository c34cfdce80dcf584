import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { listObjects } from '../../storage/packs/list-objects.ts'
import { factsKey, lastCommitsKey, packIdOf } from '../../storage/packs/pack-keys.ts'
import type { RepositoryAddress } from './answers.ts'

/** What is younger than this may belong to a push under way. Milliseconds. */
const LEFTOVER_AFTER = 6 * 60 * 60_000

/** Deletes what pushes that were cut off, and packs that were replaced or are broken, have left in R2. */
export async function deleteLeftovers(
  bucket: R2Bucket,
  store: MirrorStore,
  address: RepositoryAddress,
  now: number,
): Promise<void> {
  const { did, rkey } = address
  const isOfRepository = (key: string) => key === lastCommitsKey(did, rkey) || key === factsKey(did, rkey)
  const isNeeded = (key: string) => {
    if (isOfRepository(key)) return true
    const id = packIdOf(key)
    const isInUse = ['wanted', 'ready'].includes(store.packState(id) ?? '')
    return isInUse || store.merges.isSuperseded(id) || store.splits.isPart(id)
  }
  await deleteObjects(bucket, address, ({ key, uploaded }) => {
    return uploaded.getTime() < now - LEFTOVER_AFTER && !isNeeded(key)
  })
}

/** Deletes all that R2 has of a repository. */
export function deleteAllPacks(bucket: R2Bucket, address: Pick<RepositoryAddress, 'did' | 'rkey'>): Promise<void> {
  return deleteObjects(bucket, address, () => true)
}

async function deleteObjects(
  bucket: R2Bucket,
  { did, rkey }: Pick<RepositoryAddress, 'did' | 'rkey'>,
  isLeftover: (object: R2Object) => boolean,
): Promise<void> {
  for await (const objects of listObjects(bucket, did, rkey)) {
    const keys = objects.filter(isLeftover).map(({ key }) => key)
    if (keys.length > 0) await bucket.delete(keys)
  }
}

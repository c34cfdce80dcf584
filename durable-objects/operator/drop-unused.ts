import { drizzle } from 'drizzle-orm/d1'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import { type Environment, readEvictAfter } from '../environment.ts'
import { log } from '../log.ts'
import { repositoryOf } from '../stubs.ts'

/** In one run; the others come with the next. */
const AT_MOST = 500

/**
 * Has mirrors that are unused by what D1 knows look after themselves. They do so by their own alarms; but those that were
 * made before the operator wanted any dropped have none for it. For a cron.
 *
 * @param now milliseconds since 1970
 */
export async function dropUnused(
  environment: Pick<Environment, 'DB' | 'EVICT_AFTER_DAYS' | 'REPOSITORY'>,
  now: number,
): Promise<void> {
  const after = readEvictAfter(environment)
  if (after === null) return
  const unused = await new MirrorRegister(drizzle(environment.DB)).unusedSince(now - after, AT_MOST)
  for (const { did, rkey } of unused) {
    try {
      await repositoryOf(environment, did, rkey).dropIfUnused({ did, rkey })
    } catch (error) {
      log('eviction-failed', { did, rkey, reason: String(error) })
    }
  }
}

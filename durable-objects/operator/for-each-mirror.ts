import { drizzle } from 'drizzle-orm/d1'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import type { RepositoryKey } from '../../storage/repository-key.ts'
import type { Environment } from '../environment.ts'
import type { Repository } from '../repository/repository.ts'
import { repositoryOf } from '../stubs.ts'

/** So many objects are asked at the same time. */
const AT_ONCE = 20

/**
 * Does something with each mirror of an account, as D1 knows them.
 *
 * @returns how many there were
 * @throws what the first of them threw where it failed, once it was done with all others
 */
export async function forEachMirror(
  environment: Pick<Environment, 'DB' | 'REPOSITORY'>,
  did: string,
  act: (mirror: DurableObjectStub<Repository>, key: RepositoryKey) => Promise<unknown>,
): Promise<number> {
  const register = new MirrorRegister(drizzle(environment.DB))
  const faults: unknown[] = []
  let mirrors = 0
  for (let keys = await register.keysOf(did, AT_ONCE); keys.length > 0; ) {
    const outcomes = await Promise.allSettled(
      keys.map((rkey) => act(repositoryOf(environment, did, rkey), { did, rkey })),
    )
    for (const outcome of outcomes) if (outcome.status === 'rejected') faults.push(outcome.reason)
    mirrors += keys.length
    keys = await register.keysOf(did, AT_ONCE, keys.at(-1))
  }
  if (faults.length > 0) throw faults[0]
  return mirrors
}

import { drizzle } from 'drizzle-orm/d1'
import type { BlockSubject } from '../../storage/operator/blocks.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import type { Environment } from '../environment.ts'
import { accountWriterOf, repositoryOf } from '../stubs.ts'

/** So many objects are told at the same time. */
const AT_ONCE = 20

/**
 * Has all objects hear of a block, or that one was taken back, after D1 has: from then on no answer is by what was before.
 * An object that comes to have a mirror later asks D1 itself.
 *
 * @param keepBytes whether R2 keeps what it has of what is blocked
 * @returns how many mirrors were told
 * @throws what the platform throws, where one of them was not; all others were. It is safe to do it again
 */
export async function tellOfBlock(
  environment: Pick<Environment, 'ACCOUNT_WRITER' | 'DB' | 'REPOSITORY'>,
  { did, rkey }: BlockSubject,
  keepBytes: boolean,
): Promise<number> {
  const register = new MirrorRegister(drizzle(environment.DB))
  const faults: unknown[] = []
  const settle = async (work: readonly Promise<unknown>[]) => {
    for (const outcome of await Promise.allSettled(work)) {
      if (outcome.status === 'rejected') faults.push(outcome.reason)
    }
  }
  const tell = (key: string) => repositoryOf(environment, did, key).heedOperator({ did, rkey: key }, keepBytes)
  await settle([accountWriterOf(environment, did).heedOperator(did)])
  let told = 0
  if (rkey !== null) {
    await settle([tell(rkey)])
    told = 1
  } else {
    for (let keys = await register.keysOf(did, AT_ONCE); keys.length > 0; ) {
      await settle(keys.map(tell))
      told += keys.length
      keys = await register.keysOf(did, AT_ONCE, keys.at(-1))
    }
  }
  if (faults.length > 0) throw faults[0]
  return told
}

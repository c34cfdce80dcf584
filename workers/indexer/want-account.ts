import { drizzle } from 'drizzle-orm/d1'
import type { Environment } from '../../durable-objects/environment.ts'
import { log } from '../../durable-objects/log.ts'
import { AccountWants } from '../../storage/index/account-wants.ts'

/** Has an account listed, for nobody who waits. */
export async function wantAccount(environment: Environment, did: string, reason: string): Promise<void> {
  try {
    await new AccountWants(drizzle(environment.DB)).want([did], reason, Date.now())
    await environment.WORK.send({ kind: 'account', did })
  } catch (error) {
    log('hints-unsent', { count: 1, reason: String(error) })
  }
}

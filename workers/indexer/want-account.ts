import { drizzle } from 'drizzle-orm/d1'
import type { Environment } from '../../durable-objects/environment.ts'
import { log } from '../../durable-objects/log.ts'
import { AccountWants } from '../../storage/index/account-wants.ts'
import { wireHints } from './hints.ts'

/** Has an account listed, for nobody who waits. */
export async function wantAccount(environment: Environment, did: string, reason: string): Promise<void> {
  try {
    const wants = new AccountWants(drizzle(environment.DB))
    await wireHints(environment, wants).accounts(await wants.want([did], reason, Date.now()))
  } catch (error) {
    log('hints-unsent', { count: 1, reason: String(error) })
  }
}

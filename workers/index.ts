import { drizzle } from 'drizzle-orm/d1'
import type { Environment } from '../durable-objects/environment.ts'
import { sweepParked } from '../durable-objects/firehose/park-pack.ts'
import { log } from '../durable-objects/log.ts'
import { dropUnused } from '../durable-objects/operator/drop-unused.ts'
import { LandingAudit } from '../storage/access/landing-audit.ts'
import { D1IdentityCache } from '../storage/directory/identity-cache.ts'
import { AccountWants } from '../storage/index/account-wants.ts'
import { DeadLetters } from '../storage/index/dead-letters.ts'
import { IndexStore } from '../storage/index/index-store.ts'
import { consumeDead, consumeEvents } from './indexer/consume-events.ts'
import { consumeWork } from './indexer/consume-work.ts'
import { reconcileAll, runEachMinute } from './indexer/run-cron.ts'
import { wireIndexer } from './indexer/wire-indexer.ts'
import { RequestContext } from './request-context.ts'
import { router } from './router.ts'

export { AccountWriter } from '../durable-objects/account-writer/account-writer.ts'
export { BranchQueue } from '../durable-objects/branch-queue/branch-queue.ts'
export { Firehose } from '../durable-objects/firehose/firehose.ts'
export { Repository } from '../durable-objects/repository/repository.ts'

// As they stand in wrangler.toml; the third is for each day.
const EVERY_MINUTE = '* * * * *'
const EVERY_WEEK = '11 5 * * SUN'
const EVENTS_QUEUE = 'skein-events'
const WORK_QUEUE = 'skein-work'
const DEAD_QUEUE = 'skein-events-dead'

export default {
  fetch: (request, environment, execution) => router.fetch(request, new RequestContext(environment, execution)),
  /** See `crons` in wrangler.toml. */
  async scheduled({ cron }, environment) {
    if (cron === EVERY_MINUTE) return runEachMinute(environment)
    if (cron === EVERY_WEEK) return reconcileAll(environment)
    const db = drizzle(environment.DB)
    const now = Date.now()
    const chores = await Promise.allSettled([
      new D1IdentityCache(db).prune(),
      new LandingAudit(db).prune(now),
      new IndexStore(db).prune(now),
      new DeadLetters(db).prune(now),
      new AccountWants(db).prune(now),
      sweepParked(environment.PACKS, now),
      dropUnused(environment, now),
    ])
    // None of them keeps another from being done.
    for (const chore of chores) if (chore.status === 'rejected') log('cron-failed', { reason: String(chore.reason) })
  },
  async queue({ queue, messages }, environment) {
    const { events, work } = wireIndexer(environment)
    if (queue === WORK_QUEUE) return consumeWork(work, messages)
    if (queue === DEAD_QUEUE) return consumeDead(events, messages)
    if (queue === EVENTS_QUEUE) return consumeEvents(events, messages)
    throw new Error(`nobody consumes ${queue}: its name stands in workers/index.ts, too`)
  },
} satisfies ExportedHandler<Environment>

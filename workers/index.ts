import { drizzle } from 'drizzle-orm/d1'
import type { Environment } from '../durable-objects/environment.ts'
import { sweepParked } from '../durable-objects/firehose/park-pack.ts'
import { followUpstreams } from '../durable-objects/firehose/upstreams.ts'
import { LandingAudit } from '../storage/access/landing-audit.ts'
import { D1IdentityCache } from '../storage/directory/identity-cache.ts'
import { RequestContext } from './request-context.ts'
import { router } from './router.ts'

export { AccountWriter } from '../durable-objects/account-writer/account-writer.ts'
export { BranchQueue } from '../durable-objects/branch-queue/branch-queue.ts'
export { Firehose } from '../durable-objects/firehose/firehose.ts'
export { Repository } from '../durable-objects/repository/repository.ts'

/** As it stands in wrangler.toml. */
const EVERY_MINUTE = '* * * * *'

export default {
  fetch: (request, environment, execution) => router.fetch(request, new RequestContext(environment, execution)),
  /** See `crons` in wrangler.toml. */
  async scheduled({ cron }, environment) {
    if (cron === EVERY_MINUTE) return void (await followUpstreams(environment))
    const db = drizzle(environment.DB)
    await Promise.all([
      new D1IdentityCache(db).prune(),
      new LandingAudit(db).prune(Date.now()),
      sweepParked(environment.PACKS, Date.now()),
    ])
  },
} satisfies ExportedHandler<Environment>

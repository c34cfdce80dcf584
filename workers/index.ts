import { drizzle } from 'drizzle-orm/d1'
import type { Environment } from '../durable-objects/environment.ts'
import { dropUnused } from '../durable-objects/operator/drop-unused.ts'
import { LandingAudit } from '../storage/access/landing-audit.ts'
import { D1IdentityCache } from '../storage/directory/identity-cache.ts'
import { RequestContext } from './request-context.ts'
import { router } from './router.ts'

export { AccountWriter } from '../durable-objects/account-writer/account-writer.ts'
export { BranchQueue } from '../durable-objects/branch-queue/branch-queue.ts'
export { Repository } from '../durable-objects/repository/repository.ts'

export default {
  fetch: (request, environment, execution) => router.fetch(request, new RequestContext(environment, execution)),
  /** Once a day, see `crons` in wrangler.toml. */
  async scheduled(_, environment) {
    const db = drizzle(environment.DB)
    const now = Date.now()
    await Promise.all([new D1IdentityCache(db).prune(), new LandingAudit(db).prune(now), dropUnused(environment, now)])
  },
} satisfies ExportedHandler<Environment>

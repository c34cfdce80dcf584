import type { Environment } from '../durable-objects/environment.ts'
import { RequestContext } from './request-context.ts'
import { router } from './router.ts'

export { AccountWriter } from '../durable-objects/account-writer/account-writer.ts'
export { Repository } from '../durable-objects/repository/repository.ts'

export default {
  fetch: (request, environment, execution) => router.fetch(request, new RequestContext(environment, execution)),
} satisfies ExportedHandler<Environment>

import type { BranchQueue } from '../../durable-objects/branch-queue/branch-queue.ts'
import type { BranchAddress } from '../../durable-objects/branch-queue/answers.ts'
import { findRef } from '../../git/refs/ref-order.ts'
import { ALL_REFS } from '../../git/refs/ref-selection.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { authenticateCaller } from '../auth/authenticate.ts'
import { Mirror } from '../mirror.ts'
import type { RepositoryReference } from '../repository-access.ts'
import type { Located, RequestContext } from '../request-context.ts'
import type { GatewayDeps, GatewayTarget } from './gateway-deps.ts'

/** How the gateway's methods get at repositories, callers and queues. */
export function wireGateway(context: RequestContext): GatewayDeps {
  return {
    async enter(request, nsid, reference) {
      const { identity, entry } = await context.locateReference(reference)
      const caller = await authenticateCaller(context, request, identity, nsid)
      const address = { did: identity.did, rkey: entry.rkey, pds: identity.pds }
      return { target: { address, actor: identity.handle ?? identity.did, defaultBranch: entry.record.defaultBranch }, caller }
    },
  }
}

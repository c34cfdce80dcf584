import { branchQueueOf } from '../../durable-objects/stubs.ts'
import { findRef } from '../../git/refs/ref-order.ts'
import { ALL_REFS } from '../../git/refs/ref-selection.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { authenticateCaller } from '../auth/authenticate.ts'
import { locateRepository } from '../locate-repository.ts'
import { repositoryNotFound } from '../repository-access.ts'
import type { RequestContext } from '../request-context.ts'
import type { GatewayDeps, GatewayTarget } from './gateway-deps.ts'

/** How the gateway's methods get at repositories, callers and queues. */
export function wireGateway(context: RequestContext): GatewayDeps {
  return {
    async enter(request, nsid, reference) {
      const located = await locateRepository(context, reference)
      if (located === null) throw repositoryNotFound(reference)
      const { identity, entry } = located
      // Not all that can be asked here comes to the mirror, which would refuse it.
      const served = context.requireServed(located)
      // Whoever may not ask is told that first.
      served.catch(() => undefined)
      const caller = await authenticateCaller(context, request, identity, nsid)
      await served
      return { target: { account: identity, rkey: entry.rkey, defaultBranch: entry.record.defaultBranch }, caller }
    },
    hasBranch: (target, ref) => hasBranch(context, target, ref),
    async view({ account, rkey }) {
      const mirror = context.mirror(account, rkey)
      return mirror.view(await mirror.completeManifest(ALL_REFS))
    },
    submit: (submission) => branchQueueOf(context.environment, submission.address).submit(submission),
    repeat: (address, repetition) => branchQueueOf(context.environment, address).repeat(repetition),
    state: (address, ticket, wait, asker) => branchQueueOf(context.environment, address).state(ticket, wait, asker),
  }
}

/** By the mirror, and where that says no, by the account: somebody may have just created the branch elsewhere. */
async function hasBranch(
  context: RequestContext,
  { account, rkey }: GatewayTarget,
  ref: string,
): Promise<boolean | null> {
  const mirror = context.mirror(account, rkey, 'writer')
  const selection = { names: [ref], prefixes: [] }
  const has = (manifest: Manifest) => findRef(manifest.refs, ref) !== null
  const known = await mirror.presentManifest(selection)
  if (known === null || has(known)) return known && true
  const { state } = await mirror.refresh()
  if (state !== 'read') return null
  const current = await mirror.presentManifest(selection)
  return current && has(current)
}

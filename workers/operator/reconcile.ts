import { isSupportedDid } from '../../atproto/identity/syntax.ts'
import { readRelay } from '../../durable-objects/environment.ts'
import { HttpError, invalidRequest } from '../http/http-error.ts'
import { type ReconcileSource, reconcileStatus, startReconcile } from '../indexer/reconcile-all.ts'
import { wireIndexer } from '../indexer/wire-indexer.ts'
import type { RequestContext } from '../request-context.ts'

interface ReconcileInput {
  readonly accounts?: readonly string[]
  readonly source?: string
}

/** `dev.skein.operator.reconcile` */
export async function reconcile(context: RequestContext, input: ReconcileInput) {
  await startReconcile(wireIndexer(context.environment).reconciles, readSource(context, input))
  return getReconcile(context)
}

/** `dev.skein.operator.getReconcile` */
export async function getReconcile({ environment }: RequestContext) {
  const { reconciles, wanted } = await reconcileStatus(wireIndexer(environment).reconciles)
  return {
    lists: reconciles.map(({ source, accounts, startedAt, finishedAt }) => ({
      source,
      accounts,
      startedAt: new Date(startedAt).toISOString(),
      ...(finishedAt === null ? {} : { finishedAt: new Date(finishedAt).toISOString() }),
    })),
    accountsWanted: wanted,
  }
}

/** @throws {@link HttpError} 400 */
function readSource({ environment }: RequestContext, { accounts, source = 'known' }: ReconcileInput): ReconcileSource {
  if (accounts !== undefined) {
    const odd = accounts.find((did) => !isSupportedDid(did))
    if (odd !== undefined) throw invalidRequest(`${odd} is no DID of an account`)
    return { dids: accounts }
  }
  if (source === 'known') return { known: true }
  if (source !== 'relay') throw invalidRequest(`source must be relay or known, and is ${JSON.stringify(source)}`)
  const relay = readRelay(environment)
  if (relay === null) throw new HttpError(400, 'NoRelay', 'this edge has no RELAY_URL')
  return { relay }
}

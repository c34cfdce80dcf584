import { type Delivery, readWorkMessage } from './read-message.ts'

export interface ConsumeWorkDeps {
  /** See `reconcileAccount`. */
  reconcileAccount(did: string): Promise<void>
  /** See `stepReconcile`. */
  stepReconcile(source: string): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
}

/** Accounts that are listed at the same time: a Worker has six connections. */
const AT_ONCE = 3

/**
 * Does what a Queue hints at. Nothing of it is delivered again: what was not done is a row, and cron hints at it once more.
 */
export async function consumeWork(deps: ConsumeWorkDeps, deliveries: readonly Delivery[]): Promise<void> {
  const messages = deliveries.flatMap((delivery) => readWorkMessage(delivery.body) ?? [])
  const dids = [...new Set(messages.flatMap((message) => (message.kind === 'account' ? [message.did] : [])))]
  const sources = [...new Set(messages.flatMap((message) => (message.kind === 'reconcile' ? [message.source] : [])))]
  const work = [
    ...dids.map((did) => () => attempt(deps, { did }, () => deps.reconcileAccount(did))),
    ...sources.map((source) => () => attempt(deps, { source }, () => deps.stepReconcile(source))),
  ]
  const next = async () => {
    for (let run = work.shift(); run !== undefined; run = work.shift()) await run()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  for (const delivery of deliveries) delivery.ack()
}

async function attempt(
  { log }: ConsumeWorkDeps,
  what: Record<string, string>,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    log('reconcile-failed', { ...what, reason: String(error) })
  }
}

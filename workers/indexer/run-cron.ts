import { type Environment, readRelay, readUpstreams } from '../../durable-objects/environment.ts'
import type { FirehoseStatus } from '../../durable-objects/firehose/answers.ts'
import { followUpstreams } from '../../durable-objects/firehose/upstreams.ts'
import { log } from '../../durable-objects/log.ts'
import { firehoseOf } from '../../durable-objects/stubs.ts'
import { type ReconcileSource, startReconcile } from './reconcile-all.ts'
import { type Indexer, wireIndexer } from './wire-indexer.ts'

/** A message that hints at a due account is given so long before another one is sent. Milliseconds. */
const HINT_PATIENCE = 60_000

/** Each minute: upstreams are followed, and what hints were lost of is hinted at again. */
export async function runEachMinute(environment: Environment): Promise<void> {
  const indexer = wireIndexer(environment)
  const [statuses] = await Promise.all([followUpstreams(environment), hintAgain(indexer)])
  for (const status of statuses) await startWanted(environment, indexer, status)
}

/** Each week: what streams have not told is found. */
export async function reconcileAll(environment: Environment): Promise<void> {
  const indexer = wireIndexer(environment)
  const relay = readRelay(environment)
  await startReconcile(indexer.reconciles, { known: true })
  if (relay !== null) await startReconcile(indexer.reconciles, { relay })
}

async function hintAgain({ hints, reconciles }: Indexer): Promise<void> {
  const open = (await reconciles.reconciles.list()).filter(({ finishedAt }) => finishedAt === null)
  await hints.due(HINT_PATIENCE)
  await hints.lists(open.map(({ source }) => source))
}

/** Lists all accounts where an upstream has said that it does not tell all. */
async function startWanted(environment: Environment, indexer: Indexer, status: FirehoseStatus): Promise<void> {
  const { upstream, reconcileWanted } = status
  if (reconcileWanted === null) return
  try {
    await startReconcile(indexer.reconciles, sourceFor(environment, upstream))
    await firehoseOf(environment, upstream).reconcileBegun(reconcileWanted.at)
  } catch (error) {
    log('reconcile-failed', { source: upstream, reason: String(error) })
  }
}

/** A relay knows who there is, and so does whoever speaks as one. */
function sourceFor(environment: Environment, name: string): ReconcileSource {
  const relay = readRelay(environment)
  if (relay !== null) return { relay }
  const upstream = readUpstreams(environment).find((one) => one.name === name)
  return upstream?.protocol === 'repos' ? { relay: upstream.origin } : { known: true }
}

import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { IdentityResolver } from '../../atproto/identity/identity-resolver.ts'
import { createGuardedFetch } from '../../atproto/network/guarded-fetch.ts'
import { type Environment, mayMirror, readNetworkConfig, readUpstreams } from '../../durable-objects/environment.ts'
import { log, logRoutine } from '../../durable-objects/log.ts'
import { forEachMirror } from '../../durable-objects/operator/for-each-mirror.ts'
import { isPassingFault } from '../../durable-objects/passing-fault.ts'
import { createPdsClient } from '../../durable-objects/pds-clients.ts'
import { firehoseOf, repositoryOf } from '../../durable-objects/stubs.ts'
import { AccountWants } from '../../storage/index/account-wants.ts'
import { condense } from '../../storage/index/condense.ts'
import { DeadLetters } from '../../storage/index/dead-letters.ts'
import { findMirrored, isKnownAccount, knownAccounts } from '../../storage/index/find-mirrored.ts'
import { IndexStore } from '../../storage/index/index-store.ts'
import { PLUGINS } from '../../storage/index/plugins/plugins.ts'
import { Reconciles } from '../../storage/index/reconciles.ts'
import type { ConsumeEventsDeps } from './consume-events.ts'
import type { ConsumeWorkDeps } from './consume-work.ts'
import { followOutcome } from './follow-outcome.ts'
import { type Hints, wireHints } from './hints.ts'
import type { LettersDeps } from './letters.ts'
import { reconcileAccount } from './reconcile-account.ts'
import { type ReconcileAllDeps, stepReconcile } from './reconcile-all.ts'

/** Keys that R2 deletes at once. */
const DELETED_AT_ONCE = 1_000

/** What the parts of the indexer are given. */
export interface Indexer {
  readonly db: DrizzleD1Database
  readonly events: ConsumeEventsDeps
  readonly work: ConsumeWorkDeps
  readonly reconciles: ReconcileAllDeps
  readonly letters: LettersDeps
  readonly hints: Hints
}

/** @throws {@link ConfigError} */
export function wireIndexer(environment: Environment): Indexer {
  const { DB, PACKS, EVENTS } = environment
  const db = drizzle(DB)
  const index = new IndexStore(db)
  const wants = new AccountWants(db)
  const letters = new DeadLetters(db)
  const hints = wireHints(environment, wants)
  const upstreams = new Set(readUpstreams(environment).map(({ name }) => name))
  const { plcUrl, dnsUrl, handleResolverUrl, allowPrivateHosts } = readNetworkConfig(environment)
  const identities = new IdentityResolver({
    fetch: createGuardedFetch({ allowPrivateHosts }),
    plcUrl,
    dnsUrl,
    allowPrivateHosts,
    // What is kept is just what may not be so any more.
    cache: { get: async () => null, put: async () => undefined },
    ...(handleResolverUrl === null ? {} : { handleResolverUrl }),
  })

  const reconciles: ReconcileAllDeps = {
    reconciles: new Reconciles(db),
    wants,
    knownAccounts: (after, limit) => knownAccounts(db, after, limit),
    listAccounts: (origin, collection, cursor) => createPdsClient(environment, origin).listAccounts(collection, cursor),
    hint: hints.accounts,
    hintDue: () => hints.due(0),
    hintLists: hints.lists,
    now: Date.now,
    log,
    logRoutine,
  }
  const accounts = {
    index,
    wants,
    resolve: (did: string) => identities.resolve(did),
    client: (pds: string) => createPdsClient(environment, pds),
    collections: [...PLUGINS.keys()],
    condense,
    isKnown: (did: string) => isKnownAccount(db, did),
    isServed: (did: string) => mayMirror(environment, did),
    dropMirrors: (did: string) => dropMirrors(environment, did),
    hint: hints.accounts,
    now: Date.now,
    random: Math.random,
    log,
    logRoutine,
  }
  const outcome = {
    findMirrored: (keys: Parameters<typeof findMirrored>[1]) => findMirrored(db, keys),
    hear: async (address, heard) => {
      await repositoryOf(environment, address.did, address.rkey).hear(address, heard)
    },
    hint: hints.accounts,
    deleteParked: async (keys) => {
      for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) await PACKS.delete(keys.slice(at, at + DELETED_AT_ONCE))
    },
    log,
  } satisfies Parameters<typeof followOutcome>[0]
  return {
    db,
    hints,
    reconciles,
    letters: {
      letters,
      send: async (message) => void (await EVENTS.send(message)),
      async want(dids) {
        await hints.accounts(await wants.want(dids, 'named by an old dead letter', Date.now()))
      },
      now: Date.now,
    },
    work: {
      reconcileAccount: (did) => reconcileAccount(accounts, did),
      stepReconcile: (source) => stepReconcile(reconciles, source),
      log,
    },
    events: {
      apply: (events) =>
        index.apply(
          events.filter(({ did }) => mayMirror(environment, did)),
          Date.now(),
        ),
      isPassing: isPassingFault,
      isWell: () => letters.canWrite(),
      isFollowed: (upstream) => upstreams.has(upstream),
      bury: (payload, error) => letters.add(payload, error, Date.now()),
      tellApplied: async (upstream, batches) => {
        // Of one that is followed no more nobody waits.
        if (upstreams.has(upstream)) await firehoseOf(environment, upstream).applied(batches)
      },
      follow: (events, applied) => followOutcome(outcome, events, applied),
      log,
    },
  }
}

async function dropMirrors(environment: Environment, did: string): Promise<void> {
  try {
    await forEachMirror(environment, did, (mirror, key) => mirror.drop(key))
  } catch (error) {
    log('mirrors-untold', { did, reason: String(error) })
  }
}

import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { IdentityResolver } from '../../atproto/identity/identity-resolver.ts'
import { createGuardedFetch } from '../../atproto/network/guarded-fetch.ts'
import { type Environment, mayMirror, readNetworkConfig, readUpstreams } from '../../durable-objects/environment.ts'
import { log, logRoutine } from '../../durable-objects/log.ts'
import { isPassingFault } from '../../durable-objects/passing-fault.ts'
import { createPdsClient } from '../../durable-objects/pds-clients.ts'
import { firehoseOf, repositoryOf } from '../../durable-objects/stubs.ts'
import { AccountWants } from '../../storage/index/account-wants.ts'
import { condense } from '../../storage/index/condense.ts'
import { DeadLetters } from '../../storage/index/dead-letters.ts'
import { findMirrored, isKnownAccount, knownAccounts } from '../../storage/index/find-mirrored.ts'
import { IndexStore } from '../../storage/index/index-store.ts'
import type { WorkMessage } from '../../storage/index/messages.ts'
import { PLUGINS } from '../../storage/index/plugins/plugins.ts'
import { Reconciles } from '../../storage/index/reconciles.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import type { ConsumeEventsDeps } from './consume-events.ts'
import type { ConsumeWorkDeps } from './consume-work.ts'
import { followOutcome } from './follow-outcome.ts'
import type { LettersDeps } from './letters.ts'
import { reconcileAccount } from './reconcile-account.ts'
import { type ReconcileAllDeps, stepReconcile } from './reconcile-all.ts'

/** Messages that a Queue takes at once. */
const SENT_AT_ONCE = 100
/** Keys that R2 deletes at once. */
const DELETED_AT_ONCE = 1_000
/** Mirrors of an account that are looked up at once. */
const MIRRORS_PAGE = 500

/** What the parts of the indexer are given. */
export interface Indexer {
  readonly db: DrizzleD1Database
  readonly events: ConsumeEventsDeps
  readonly work: ConsumeWorkDeps
  readonly reconciles: ReconcileAllDeps
  readonly letters: LettersDeps
  readonly wants: AccountWants
}

/** @throws {@link ConfigError} */
export function wireIndexer(environment: Environment): Indexer {
  const { DB, PACKS, EVENTS } = environment
  const db = drizzle(DB)
  const index = new IndexStore(db)
  const wants = new AccountWants(db)
  const letters = new DeadLetters(db)
  const hint = (messages: readonly WorkMessage[]) => sendHints(environment, messages)
  const dropMirrors = (did: string) => dropAllMirrors(environment, db, did)
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
    hint,
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
    dropMirrors,
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
    dropMirrors,
    hint,
    deleteParked: async (keys) => {
      for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) await PACKS.delete(keys.slice(at, at + DELETED_AT_ONCE))
    },
    log,
  } satisfies Parameters<typeof followOutcome>[0]
  return {
    db,
    wants,
    reconciles,
    letters: {
      letters,
      send: async (message) => void (await EVENTS.send(message)),
      async want(dids) {
        await wants.want(dids, 'named by an old dead letter', Date.now())
        await hint(dids.map((did) => ({ kind: 'account', did })))
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

/** What is lost of it is found by cron. */
async function sendHints({ WORK }: Environment, messages: readonly WorkMessage[]): Promise<void> {
  try {
    for (let at = 0; at < messages.length; at += SENT_AT_ONCE) {
      await WORK.sendBatch(messages.slice(at, at + SENT_AT_ONCE).map((body) => ({ body })))
    }
  } catch (error) {
    log('hints-unsent', { count: messages.length, reason: String(error) })
  }
}

async function dropAllMirrors(environment: Environment, db: DrizzleD1Database, did: string): Promise<void> {
  const register = new MirrorRegister(db)
  try {
    for (let after = ''; ; ) {
      const rkeys = await register.keysOf(did, MIRRORS_PAGE, after)
      for (const rkey of rkeys) await repositoryOf(environment, did, rkey).drop({ did, rkey })
      if (rkeys.length < MIRRORS_PAGE) return
      after = rkeys.at(-1)!
    }
  } catch (error) {
    log('mirrors-untold', { did, reason: String(error) })
  }
}

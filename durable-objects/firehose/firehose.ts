import { DurableObject } from 'cloudflare:workers'
import { drizzle } from 'drizzle-orm/d1'
import { Signers } from '../../atproto/firehose/signers.ts'
import { IdentityResolver } from '../../atproto/identity/identity-resolver.ts'
import { whichAreMirrored } from '../../storage/index/find-mirrored.ts'
import { type Environment, mayMirror, readNetworkConfig, readUpstreams } from '../environment.ts'
import { log } from '../log.ts'
import type { FirehoseStatus } from './answers.ts'
import { BatchStore } from './batch-store.ts'
import { connectUpstream } from './connect.ts'
import { UpstreamFollower } from './follow-upstream.ts'
import { FIREHOSE_LIMITS } from './limits.ts'
import { parkPack } from './park-pack.ts'

/** What the Queue and R2 may take, in milliseconds: whoever waits for them reads nothing meanwhile. */
const PLATFORM_TIMEOUT = 30_000

/**
 * Follows one upstream, by whose URL it is named, as it stands in `UPSTREAMS`. A websocket keeps an object awake for a
 * while and is gone with it: the alarm, and whoever comes by, has it connected again.
 */
export class Firehose extends DurableObject<Environment> {
  readonly #store: BatchStore
  #follower: UpstreamFollower | null = null

  constructor(context: DurableObjectState, environment: Environment) {
    super(context, environment)
    this.#store = new BatchStore(context.storage)
  }

  /**
   * Sees to it that the upstream is followed. @param name its URL, one of `UPSTREAMS`
   *
   * @returns null: it is none of them
   */
  async ensureFollowing(name: string): Promise<FirehoseStatus | null> {
    const upstream = readUpstreams(this.env).find((one) => one.name === name)
    if (upstream !== undefined) this.#store.begin(name, upstream.beginAt, Date.now())
    const follower = this.#follow()
    await follower?.tick()
    return follower?.status() ?? null
  }

  /** What was sent in these batches is applied, or given up for good. */
  applied(numbers: readonly number[]): void {
    // The object may have slept: what is known to be applied is not read again.
    if (this.#follower === null) this.#store.removeBatches(numbers)
    else this.#follower.applied(numbers)
    this.ctx.waitUntil(this.#wakeBy(Date.now() + FIREHOSE_LIMITS.heartbeat))
  }

  /** A listing of all accounts has begun. @param at of the want that led to it */
  reconcileBegun(at: number): void {
    this.#store.doneReconcile(at)
  }

  override async alarm(): Promise<void> {
    await this.#follow()?.tick()
  }

  /** Null: the upstream is configured no more, or never was. */
  #follow(): UpstreamFollower | null {
    const name = this.#store.upstream()
    const upstream = readUpstreams(this.env).find((one) => one.name === name)
    if (upstream === undefined) {
      this.#follower?.stop()
      this.#follower = null
      return null
    }
    const { plcUrl, dnsUrl, allowPrivateHosts } = readNetworkConfig(this.env)
    const identities = new IdentityResolver({ plcUrl, dnsUrl, allowPrivateHosts })
    const store = this.#store
    const db = drizzle(this.env.DB)
    this.#follower ??= new UpstreamFollower({
      upstream,
      store,
      signers: new Signers({ readDocument: (did) => identities.readDocument(did), now: Date.now, sleep: pause }),
      limits: FIREHOSE_LIMITS,
      connect: connectUpstream,
      send: async (message) => void (await within(PLATFORM_TIMEOUT, this.env.EVENTS.send(message))),
      park: (pack) => within(PLATFORM_TIMEOUT, parkPack(this.env.PACKS, pack)),
      findMirrored: (repositories) => within(PLATFORM_TIMEOUT, whichAreMirrored(db, repositories)),
      isFollowed: (did) => mayMirror(this.env, did),
      wantReconcile: (reason) => {
        log('reconcile-wanted', { upstream: name, reason })
        store.wantReconcile(reason, Date.now())
      },
      now: Date.now,
      random: Math.random,
      later: (milliseconds, run) => setTimeout(run, milliseconds),
      wakeBy: (time) => this.ctx.waitUntil(this.#wakeBy(time)),
      onFailure: (reason) => log('upstream-failed', { upstream: name, reason }),
      onRewind: (batch) => log('upstream-rewound', { upstream: name, batch }),
    })
    return this.#follower
  }

  /** There is one alarm. */
  async #wakeBy(time: number): Promise<void> {
    const { storage } = this.ctx
    const set = await storage.getAlarm()
    if (set === null || set > time) await storage.setAlarm(time)
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** @throws where it takes longer */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds / 1000} s`)), milliseconds)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

import { env, runInDurableObject } from 'cloudflare:test'
import type { RawFrame } from '../../../atproto/firehose/decode-frame.ts'
import type { Signers } from '../../../atproto/firehose/signers.ts'
import { parseUpstream, type Upstream } from '../../../atproto/firehose/upstream.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { BatchStore } from '../../../durable-objects/firehose/batch-store.ts'
import type { SocketEvents } from '../../../durable-objects/firehose/connect.ts'
import { UpstreamFollower } from '../../../durable-objects/firehose/follow-upstream.ts'
import { FIREHOSE_LIMITS, type FirehoseLimits } from '../../../durable-objects/firehose/limits.ts'
import type { ParkedPack } from '../../../durable-objects/firehose/park-pack.ts'
import type { EventsMessage } from '../../../storage/index/messages.ts'

export const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
export const REV = '3lzkoq5qq2s2a'
const RELAY = 'wss://relay.bsky.network/xrpc/com.atproto.sync.subscribeRepos'
const JETSTREAM = 'wss://jetstream2.us-east.bsky.network/subscribe'
const JETSTREAM_V2 = 'wss://jetstream.us-east.bsky.network/xrpc/network.bsky.jetstream.subscribeEvents'
export const UPSTREAMS = { relay: RELAY, jetstream: JETSTREAM, jetstreamV2: JETSTREAM_V2 }

/** A subscription that the follower has asked for. */
export class FakeSocket {
  readonly url: URL
  readonly #events: SocketEvents
  isClosed = false

  constructor(url: string, events: SocketEvents) {
    this.url = new URL(url)
    this.#events = events
  }

  get cursor(): number | null {
    const text = this.url.searchParams.get('cursor')
    return text === null ? null : Number(text)
  }

  send(...frames: readonly RawFrame[]): void {
    for (const frame of frames) if (!this.isClosed) this.#events.onFrame(frame)
  }

  end(reason = 'closed with 1006'): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#events.onEnd(reason)
  }

  close(): void {
    this.isClosed = true
  }
}

/** A follower on the SQLite of a Durable Object, with an upstream, a Queue, R2 and a clock that do as they are told. */
export class TestFirehose {
  readonly store: BatchStore
  readonly sockets: FakeSocket[] = []
  readonly sent: EventsMessage[] = []
  readonly parked: ParkedPack[] = []
  /** Accounts of which nothing is wanted. */
  readonly unfollowed = new Set<string>()
  /** Accounts of which all repositories are mirrored. */
  readonly mirrored = new Set<string>()
  readonly failures: string[] = []
  readonly rewinds: number[] = []
  readonly wakes: number[] = []
  now = 1_800_000_000_000
  readonly #limits: FirehoseLimits
  /** What a try to connect fails with. */
  refusal: Error | null = null
  sendFault: Error | null = null
  parkFault: Error | null = null
  /** Sends wait for it. */
  hold: Promise<void> | null = null
  signers: Signers = { of: async () => null, again: async () => null, forget: () => undefined } as unknown as Signers
  readonly #storage: DurableObjectStorage
  readonly #upstream: Upstream
  #timers: { readonly at: number; readonly run: () => void }[] = []
  follower: UpstreamFollower

  constructor(storage: DurableObjectStorage, url: string, limits: Partial<FirehoseLimits>) {
    this.#limits = { ...FIREHOSE_LIMITS, ...limits }
    this.#storage = storage
    this.#upstream = parseUpstream(url, false)
    this.store = new BatchStore(storage)
    this.store.begin(url, this.#upstream.beginAt, this.now)
    this.follower = this.#newFollower()
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1)!
  }

  get events() {
    return this.sent.flatMap(({ events }) => events)
  }

  /** Record keys of the events that were sent. */
  get rkeys(): string[] {
    return this.events.map((event) => (event.kind === 'record' ? event.rkey : event.kind))
  }

  /** All that was in memory is gone. */
  restart(): void {
    this.socket.close()
    this.follower.stop()
    this.#timers = []
    this.follower = this.#newFollower()
  }

  /** Lets time pass: what is due in it is done, in order. */
  async pass(milliseconds: number): Promise<void> {
    await settle()
    for (const end = this.now + milliseconds; ; ) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > end) {
        this.now = end
        break
      }
      this.#timers.splice(this.#timers.indexOf(next), 1)
      this.now = Math.max(this.now, next.at)
      next.run()
      await settle()
    }
    await settle()
  }

  async tick(): Promise<void> {
    await this.follower.tick()
    await settle()
  }

  /** Applies all that was sent. */
  applyAll(): void {
    this.follower.applied(this.sent.map(({ batch }) => batch))
  }

  #newFollower(): UpstreamFollower {
    const test = this
    return new UpstreamFollower({
      upstream: this.#upstream,
      store: new BatchStore(this.#storage),
      get signers() {
        return test.signers
      },
      limits: this.#limits,
      connect: async (url, events) => {
        const socket = new FakeSocket(url, events)
        this.sockets.push(socket)
        if (this.refusal !== null) throw this.refusal
        return socket
      },
      send: async (message) => {
        await this.hold
        if (this.sendFault !== null) throw this.sendFault
        this.sent.push(JSON.parse(JSON.stringify(message)) as EventsMessage)
      },
      park: async (pack) => {
        if (this.parkFault !== null) throw this.parkFault
        this.parked.push(pack)
      },
      findMirrored: async (repositories) => repositories.filter(({ did }) => this.mirrored.has(did)),
      isFollowed: (did) => !this.unfollowed.has(did),
      wantReconcile: (reason) => this.store.wantReconcile(reason, this.now),
      now: () => this.now,
      random: () => 1,
      later: (milliseconds, run) => {
        this.#timers.push({ at: this.now + milliseconds, run })
      },
      wakeBy: (time) => this.wakes.push(time),
      onFailure: (reason) => this.failures.push(reason),
      onRewind: (batch) => this.rewinds.push(batch),
    })
  }
}

/** What was begun gets as far as it can without time passing. */
export async function settle(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setTimeout(resolve, 0))
}

let objects = 0

/** Runs a test with a follower of its own. */
export async function inFirehose(
  url: string,
  test: (firehose: TestFirehose) => Promise<void>,
  limits: Partial<FirehoseLimits> = {},
): Promise<void> {
  const { FIREHOSE } = env as unknown as Environment
  const stub = FIREHOSE.get(FIREHOSE.idFromName(`test ${++objects}`))
  await runInDurableObject(stub, async (_, { storage }) => {
    const firehose = new TestFirehose(storage, url, limits)
    await test(firehose)
    firehose.follower.stop()
  })
}

/** A record of Jetstream. @param seconds of its time */
export function jetstreamRecord(seconds: number, rkey: string, record: object | null = { name: rkey }): string {
  const commit = {
    rev: REV,
    operation: record === null ? 'delete' : 'create',
    collection: 'dev.skein.repo',
    rkey,
    ...(record === null ? {} : { record }),
  }
  return JSON.stringify({ did: DID, time_us: seconds * 1_000_000, kind: 'commit', commit })
}

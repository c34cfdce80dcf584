import { decodeFrame, type RawFrame } from '../../atproto/firehose/decode-frame.ts'
import type { EventsFrame } from '../../atproto/firehose/frame.ts'
import { proveEvents } from '../../atproto/firehose/prove-events.ts'
import type { Signers } from '../../atproto/firehose/signers.ts'
import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import {
  cursorOfNow,
  cursorTrouble,
  isClamped,
  laterCursor,
  rewound,
  subscriptionUrl,
  type Upstream,
} from '../../atproto/firehose/upstream.ts'
import type { RepositoryKey } from '../../storage/repository-key.ts'
import type { FirehoseCounts, FirehoseStatus } from './answers.ts'
import { FrameBuffer } from './frame-buffer.ts'
import { fitEvent, GatheredEvents } from './gathered-events.ts'
import { type ParkedPack, repositoriesOfPacks, takePack } from './park-pack.ts'
import { type BatchDeps, PendingBatches } from './pending-batches.ts'
import { type ConnectionDeps, UpstreamConnection } from './upstream-connection.ts'

export interface FollowDeps extends ConnectionDeps, BatchDeps {
  readonly upstream: Upstream
  readonly signers: Signers
  readonly park: (pack: ParkedPack) => Promise<void>
  /** Those of some repositories that are mirrored. */
  readonly findMirrored: (repositories: readonly RepositoryKey[]) => Promise<readonly RepositoryKey[]>
  /** Whether what accounts do is wanted; of others nothing is taken. */
  readonly isFollowed: (did: string) => boolean
  /** All accounts are to be listed: the stream does not tell what has happened. What it writes down lasts. */
  readonly wantReconcile: (reason: string) => void
}

/**
 * Follows one upstream: decodes what comes, gathers it, writes each batch down, sends it, and reads again what is not
 * applied. The stream itself is the log: of it nothing is kept here but the place. So there is one remedy for all that can
 * go wrong, which is to read again from before it, and whoever applies the events may get them twice.
 */
export class UpstreamFollower {
  readonly #deps: FollowDeps
  readonly #buffer: FrameBuffer
  readonly #gathered: GatheredEvents
  readonly #connection: UpstreamConnection
  readonly #batches: PendingBatches
  readonly #counts: Record<Exclude<keyof FirehoseCounts, 'batches' | 'connects' | 'rewinds'>, number> = {
    frames: 0,
    events: 0,
    unreadable: 0,
    dropped: 0,
    tooLarge: 0,
  }
  /** All up to here is gathered or sent, or is nothing that is wanted. */
  #seen: number | null
  /** What the connection was asked for; undefined: its first event has come. */
  #asked: number | null | undefined
  #pumping: Promise<void> | null = null
  /** Grows when what was read is given up: what is being made of it comes to nothing. */
  #generation = 0
  #isPaused = false
  #isStopped = false
  #lastEventAt: number | null = null
  #lag: number | null = null

  /** What was sent before the object woke may be lost, or was never sent: it is read again. */
  constructor(deps: FollowDeps) {
    this.#deps = deps
    this.#buffer = new FrameBuffer(deps.limits.bufferedBytes)
    this.#gathered = new GatheredEvents(deps.limits)
    this.#connection = new UpstreamConnection(deps, {
      onOpen: () => this.#opened(),
      onFrame: (frame) => this.#take(frame),
      onRefused: (error) => {
        if (cursorTrouble(error) !== null) this.#loseCursor()
      },
      onDue: () => void this.#connect(),
    })
    this.#batches = new PendingBatches(deps, deps.upstream.name, (error) => this.#fault(error))
    deps.store.rewind()
    this.#seen = deps.store.position()
  }

  /** Looks after all that goes by time, and connects. To be called on each heartbeat, and whenever somebody comes by. */
  async tick(): Promise<void> {
    if (this.#isStopped) return
    const { now, wakeBy, limits } = this.#deps
    wakeBy(now() + limits.heartbeat)
    if (this.#batches.rewindIfStuck()) {
      this.#giveUp()
      this.#isPaused = false
      this.#connection.dueIn(0)
    }
    this.#connection.leaveIfSilent()
    this.#savePosition()
    this.#noteReached()
    await this.#connect()
  }

  /** What was sent in these batches is applied, or given up for good. Others than those that are waited for do no harm. */
  applied(numbers: readonly number[]): void {
    if (!this.#batches.applied(numbers) || !this.#isPaused || !this.#batches.isHalfEmpty) return
    this.#isPaused = false
    this.#connection.dueIn(0)
  }

  status(): FirehoseStatus {
    const { store, upstream } = this.#deps
    const oldest = store.oldest()
    return {
      upstream: upstream.name,
      isConnected: this.#connection.isOpen,
      isPaused: this.#isPaused,
      reachedAt: store.reachedAt(),
      cursor: store.resumePosition(),
      lastEventAt: this.#lastEventAt,
      lastFrameAt: this.#connection.lastFrameAt,
      lag: this.#lag,
      pendingBatches: store.pendingCount(),
      oldestPendingAt: oldest?.sentAt ?? null,
      reconcileWanted: store.reconcile(),
      lastError: this.#connection.lastError,
      counts: { ...this.#counts, ...this.#batches.counts, connects: this.#connection.count },
    }
  }

  /** Nothing is read or sent any more. */
  stop(): void {
    this.#isStopped = true
    this.#giveUp()
  }

  async #connect(): Promise<void> {
    const { upstream, now } = this.#deps
    if (this.#pumping !== null || !this.#buffer.isEmpty || this.#isPaused || this.#isStopped) return
    if (!this.#connection.isDue) return
    if (this.#batches.isFull) return this.#pause()
    this.#asked = this.#seen === null ? cursorOfNow(upstream.protocol, now()) : rewound(upstream.protocol, this.#seen)
    await this.#connection.open(subscriptionUrl(upstream, this.#asked))
  }

  #opened(): void {
    const { upstream, now, wantReconcile } = this.#deps
    if (this.#seen !== null) return
    // What has happened before is not told; from here on all is, whenever the listing begins.
    wantReconcile('the upstream is followed from now on')
    this.#seen = cursorOfNow(upstream.protocol, now())
    this.#savePosition()
  }

  #take(frame: RawFrame): void {
    this.#buffer.add(frame)
    // What is here is read first; the rest comes by another connection.
    if (this.#buffer.isFull) this.#connection.leave()
    this.#pump()
  }

  /** Too much is not applied: it is read on when there is less. */
  #pause(): void {
    this.#isPaused = true
    this.#buffer.clear()
    this.#connection.leave()
  }

  /** Gives up all that is not in a batch yet. */
  #giveUp(): void {
    this.#generation++
    this.#buffer.clear()
    this.#gathered.take()
    this.#connection.leave()
    this.#seen = this.#deps.store.position()
  }

  #fault(error: unknown): void {
    this.#giveUp()
    this.#connection.fail(error)
  }

  #pump(): void {
    this.#pumping ??= this.#pumpAll().finally(() => {
      this.#pumping = null
      if (!this.#buffer.isEmpty) this.#pump()
      else void this.#connect()
    })
  }

  async #pumpAll(): Promise<void> {
    const generation = this.#generation
    try {
      while (!this.#buffer.isEmpty) {
        if (this.#batches.isFull) return this.#pause()
        await this.#readFrames(this.#buffer.take(this.#deps.limits.framesAtOnce))
        await this.#batches.hasRoom()
        if (generation !== this.#generation) return
      }
      // There is nothing that it could wait for.
      if (!this.#connection.isThere) this.#flush()
    } catch (error) {
      if (generation === this.#generation) this.#fault(error)
    }
  }

  /** Of messages that hold much, fewer are in memory at a time. */
  async #readFrames(raws: readonly RawFrame[]): Promise<void> {
    const generation = this.#generation
    let frames: EventsFrame[] = []
    let values = 0
    for (const raw of raws) {
      const frame = this.#decode(raw)
      if (frame === null) continue
      frames.push(frame)
      values += frame.values
      if (values < this.#deps.limits.valuesAtOnce) continue
      await this.#readEvents(frames)
      if (generation !== this.#generation) return
      frames = []
      values = 0
    }
    await this.#readEvents(frames)
  }

  async #readEvents(frames: readonly EventsFrame[]): Promise<void> {
    const { upstream, signers, park, findMirrored } = this.#deps
    const generation = this.#generation
    const proven = await Promise.all(frames.map((frame) => proveEvents(frame, signers, upstream.origin)))
    const repositories = proven.flatMap(repositoriesOfPacks)
    const found = repositories.length === 0 ? [] : await findMirrored(repositories)
    const mirrored = new Set(found.map(nameOf))
    const taken = proven.map((events) => events.map((event) => takePack(event, (one) => mirrored.has(nameOf(one)))))
    await Promise.all(taken.flat().map(({ pack }) => pack && park(pack)))
    if (generation !== this.#generation) return
    for (const [i, frame] of frames.entries()) {
      for (const { event } of taken[i]!) this.#gather(event)
      this.#advance(frame)
    }
  }

  /** Null: it says nothing of accounts. */
  #decode(raw: RawFrame): EventsFrame | null {
    const { upstream, now } = this.#deps
    this.#counts.frames++
    const frame = decodeFrame(upstream.protocol, raw, now())
    switch (frame.kind) {
      case 'events':
        return ofFollowed(frame, this.#deps.isFollowed)
      case 'unreadable':
        this.#counts.unreadable++
        this.#connection.note(`unreadable: ${frame.reason}`)
        return null
      case 'notice':
        this.#heed(frame.name)
        return null
      case 'error':
        this.#heed(frame.name)
        this.#connection.end(`${frame.name}: ${frame.message}`)
        return null
    }
  }

  #heed(name: string): void {
    const trouble = cursorTrouble(name)
    if (trouble === null) return
    if (trouble !== 'outdated') this.#loseCursor()
    this.#deps.wantReconcile(`the upstream says ${name}`)
  }

  /** It means nothing to the upstream, nor do those of the batches. */
  #loseCursor(): void {
    const { store } = this.#deps
    this.#flush()
    store.removeAllBatches()
    store.setPosition(null)
    this.#seen = null
    this.#asked = undefined
  }

  #advance({ cursor, time, dropped }: EventsFrame): void {
    const { upstream, now, wantReconcile } = this.#deps
    if (this.#asked !== undefined && isClamped(upstream.protocol, this.#asked, cursor))
      wantReconcile('the upstream no longer has all that has happened')
    this.#asked = undefined
    this.#seen = laterCursor(upstream.protocol, this.#seen, cursor)
    this.#counts.dropped += dropped
    this.#lastEventAt = Math.max(this.#lastEventAt ?? 0, time)
    this.#lag = Math.max(0, now() - time)
  }

  #gather(event: StreamEvent): void {
    const { limits, now, later } = this.#deps
    const { event: fitting, bytes } = fitEvent(event, limits.batchBytes)
    if (fitting !== event) this.#counts.tooLarge++
    if (!this.#gathered.hasRoomFor(bytes)) this.#flush()
    const before = this.#gathered.dueAt
    this.#gathered.add(fitting, bytes, now())
    this.#counts.events++
    const { dueAt } = this.#gathered
    if (dueAt !== null && dueAt !== before) later(dueAt - now(), () => this.#flushIfDue())
  }

  #flushIfDue(): void {
    const { dueAt } = this.#gathered
    if (dueAt !== null && dueAt <= this.#deps.now()) this.#flush()
  }

  /** Of a message that is split only its end moves on: whoever begins before it gets it whole. */
  #flush(): void {
    const events = this.#gathered.take()
    if (events.length > 0) this.#batches.add(events, this.#seen)
  }

  /** For an object that wakes, and cannot connect. */
  #noteReached(): void {
    const { store, now } = this.#deps
    if (this.#connection.isOpen || this.#isPaused) store.noteReached(now())
  }

  /** A quiet stream moves on too. */
  #savePosition(): void {
    const { store } = this.#deps
    if (this.#gathered.size === 0 && this.#seen !== store.position()) store.setPosition(this.#seen)
  }
}

/** Before anything is proven: of the others not even that is worth it. */
function ofFollowed(frame: EventsFrame, isFollowed: (did: string) => boolean): EventsFrame {
  const events = frame.events.filter(({ did }) => isFollowed(did))
  return events.length === frame.events.length ? frame : { ...frame, events }
}

const nameOf = ({ did, rkey }: RepositoryKey): string => `${did}/${rkey}`

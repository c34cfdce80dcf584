import { decodeFrame, type RawFrame } from '../../atproto/firehose/decode-frame.ts'
import type { EventsFrame } from '../../atproto/firehose/frame.ts'
import { proveEvents } from '../../atproto/firehose/prove-events.ts'
import type { Signers } from '../../atproto/firehose/signers.ts'
import type { StreamEvent, SyncEvent } from '../../atproto/firehose/stream-event.ts'
import {
  cursorOfNow,
  cursorTrouble,
  isClamped,
  laterCursor,
  rewound,
  subscriptionUrl,
  type Upstream,
} from '../../atproto/firehose/upstream.ts'
import type { EventsMessage } from '../../storage/index/messages.ts'
import type { FirehoseCounts, FirehoseStatus } from './answers.ts'
import type { BatchStore } from './batch-store.ts'
import { type Connect, SubscriptionRefusedError, type UpstreamSocket } from './connect.ts'
import { FrameBuffer } from './frame-buffer.ts'
import { eventBytes, GatheredEvents } from './gathered-events.ts'
import type { FirehoseLimits } from './limits.ts'
import { type ParkedPack, takePack } from './park-pack.ts'
import { patienceAfter, pauseBefore, Silence } from './pauses.ts'

export interface FollowDeps {
  readonly upstream: Upstream
  readonly store: BatchStore
  readonly signers: Signers
  readonly limits: FirehoseLimits
  readonly connect: Connect
  /** Hands a batch to whoever applies it. */
  readonly send: (message: EventsMessage) => Promise<void>
  readonly park: (pack: ParkedPack) => Promise<void>
  /** Whether what accounts do is wanted; of others nothing is taken. */
  readonly isFollowed: (did: string) => boolean
  /** All accounts are to be listed: the stream does not tell what has happened. What it writes down lasts. */
  readonly wantReconcile: (reason: string) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly random: () => number
  /** Runs something later, if the object is still there. */
  readonly later: (milliseconds: number, run: () => void) => void
  /** Has `tick` called by that time, whatever becomes of the object. */
  readonly wakeBy: (time: number) => void
  readonly onFailure: (reason: string) => void
  readonly onRewind: (batch: number) => void
}

interface Connection {
  /** Null: it is not open yet. */
  socket: UpstreamSocket | null
  openedAt: number
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
  readonly #silence: Silence
  /** What was sent and has not arrived. */
  readonly #sending = new Set<Promise<void>>()
  readonly #counts: Record<keyof FirehoseCounts, number> = {
    frames: 0,
    events: 0,
    batches: 0,
    connects: 0,
    rewinds: 0,
    unreadable: 0,
    dropped: 0,
    tooLarge: 0,
  }
  #connection: Connection | null = null
  /** All up to here is gathered or sent, or is nothing that is wanted. */
  #seen: number | null
  /** What the connection was asked for; undefined: its first event has come. */
  #asked: number | null | undefined
  #pumping: Promise<void> | null = null
  /** Grows when what was read is given up: what is being made of it comes to nothing. */
  #generation = 0
  #failures = 0
  #connectAt = 0
  #isPaused = false
  #isStopped = false
  #rewinds = 0
  /** When a batch was last applied. */
  #progressAt: number
  #highestApplied = 0
  #lastFrameAt: number | null = null
  #lastEventAt: number | null = null
  #lag: number | null = null
  #lastError: FirehoseStatus['lastError'] = null

  /** What was sent before the object woke may be lost, or was never sent: it is read again. */
  constructor(deps: FollowDeps) {
    this.#deps = deps
    this.#buffer = new FrameBuffer(deps.limits.bufferedBytes)
    this.#gathered = new GatheredEvents(deps.limits)
    this.#silence = new Silence(deps.limits)
    this.#progressAt = deps.now()
    deps.store.rewind()
    this.#seen = deps.store.position()
  }

  /** Looks after all that goes by time, and connects. To be called on each heartbeat, and whenever somebody comes by. */
  async tick(): Promise<void> {
    if (this.#isStopped) return
    const { now, wakeBy, limits } = this.#deps
    wakeBy(now() + limits.heartbeat)
    this.#rewindIfStuck()
    this.#endIfSilent()
    this.#savePosition()
    this.#noteReached()
    await this.#connect()
  }

  /** What was sent in these batches is applied, or given up for good. Others than those that are waited for do no harm. */
  applied(numbers: readonly number[]): void {
    const { store, limits, now } = this.#deps
    const oldest = store.oldest()
    if (store.removeBatches(numbers) === 0) return
    this.#progressAt = now()
    this.#highestApplied = Math.max(this.#highestApplied, ...numbers)
    if (oldest !== null && numbers.includes(oldest.number)) this.#rewinds = 0
    if (!this.#isPaused || store.pendingCount() > limits.pendingBatches / 2) return
    this.#isPaused = false
    this.#connectIn(0)
  }

  status(): FirehoseStatus {
    const { store, upstream } = this.#deps
    const oldest = store.oldest()
    return {
      upstream: upstream.name,
      isConnected: this.#connection?.socket != null,
      isPaused: this.#isPaused,
      reachedAt: store.reachedAt(),
      cursor: store.resumePosition(),
      lastEventAt: this.#lastEventAt,
      lastFrameAt: this.#lastFrameAt,
      lag: this.#lag,
      pendingBatches: store.pendingCount(),
      oldestPendingAt: oldest?.sentAt ?? null,
      reconcileWanted: store.reconcile(),
      lastError: this.#lastError,
      counts: { ...this.#counts },
    }
  }

  /** Nothing is read or sent any more. */
  stop(): void {
    this.#isStopped = true
    this.#giveUp()
  }

  async #connect(): Promise<void> {
    const { store, upstream, limits, now, connect } = this.#deps
    const isBusy = this.#connection !== null || this.#pumping !== null || !this.#buffer.isEmpty
    if (isBusy || this.#isPaused || this.#isStopped || now() < this.#connectAt) return
    if (store.pendingCount() >= limits.pendingBatches) return this.#pause()
    const connection: Connection = { socket: null, openedAt: now() }
    this.#connection = connection
    this.#asked = this.#seen === null ? cursorOfNow(upstream.protocol, now()) : rewound(upstream.protocol, this.#seen)
    try {
      const socket = await connect(subscriptionUrl(upstream, this.#asked), {
        onFrame: (frame) => this.#take(connection, frame),
        onEnd: (reason) => this.#end(connection, reason),
      })
      if (this.#connection !== connection) return socket.close()
      this.#opened(connection, socket)
    } catch (error) {
      if (this.#connection !== connection) return
      if (error instanceof SubscriptionRefusedError && cursorTrouble(error.error) !== null) this.#loseCursor()
      this.#end(connection, messageOf(error))
    }
  }

  #opened(connection: Connection, socket: UpstreamSocket): void {
    const { upstream, now, wantReconcile } = this.#deps
    connection.socket = socket
    connection.openedAt = now()
    this.#counts.connects++
    this.#lastFrameAt = now()
    if (this.#seen !== null) return
    // What has happened before is not told; from here on all is, whenever the listing begins.
    wantReconcile('the upstream is followed from now on')
    this.#seen = cursorOfNow(upstream.protocol, now())
    this.#savePosition()
  }

  #take(connection: Connection, frame: RawFrame): void {
    if (this.#connection !== connection) return
    const { now } = this.#deps
    if (this.#lastFrameAt !== null) this.#silence.note(now() - this.#lastFrameAt)
    this.#lastFrameAt = now()
    this.#buffer.add(frame)
    // What is here is read first; the rest comes by another connection.
    if (this.#buffer.isFull) this.#leave(connection)
    this.#pump()
  }

  /** The connection has ended, or there is none. What has come by it is read all the same. */
  #end(connection: Connection, reason: string): void {
    if (this.#connection !== connection) return
    const { limits, now } = this.#deps
    const wasSteady = connection.socket !== null && now() - connection.openedAt >= limits.steadyAfter
    if (wasSteady) this.#failures = 0
    this.#leave(connection)
    this.#failed(reason)
  }

  #leave(connection: Connection): void {
    connection.socket?.close()
    this.#connection = null
  }

  #failed(reason: string): void {
    const { limits, now, random, onFailure } = this.#deps
    this.#lastError = { at: now(), message: reason }
    onFailure(reason)
    this.#connectIn(pauseBefore(this.#failures++, limits, random))
  }

  #connectIn(milliseconds: number): void {
    const { now, later, wakeBy } = this.#deps
    this.#connectAt = now() + milliseconds
    wakeBy(this.#connectAt)
    later(milliseconds, () => void this.#connect())
  }

  /** Too much is not applied: it is read on when there is less. */
  #pause(): void {
    this.#isPaused = true
    this.#buffer.clear()
    if (this.#connection !== null) this.#leave(this.#connection)
  }

  /** Gives up all that is not in a batch yet. */
  #giveUp(): void {
    this.#generation++
    this.#buffer.clear()
    this.#gathered.take()
    if (this.#connection !== null) this.#leave(this.#connection)
    this.#seen = this.#deps.store.position()
  }

  #fault(error: unknown): void {
    this.#giveUp()
    this.#failed(messageOf(error))
  }

  #pump(): void {
    this.#pumping ??= this.#pumpAll().finally(() => {
      this.#pumping = null
      if (!this.#buffer.isEmpty) this.#pump()
      else if (this.#connection === null) void this.#connect()
    })
  }

  async #pumpAll(): Promise<void> {
    const { limits, store } = this.#deps
    const generation = this.#generation
    try {
      while (!this.#buffer.isEmpty) {
        if (store.pendingCount() >= limits.pendingBatches) return this.#pause()
        await this.#readFrames(this.#buffer.take(limits.framesAtOnce))
        while (this.#sending.size >= limits.sendsAtOnce) await Promise.race(this.#sending)
        if (generation !== this.#generation) return
      }
      // There is nothing that it could wait for.
      if (this.#connection === null) this.#flush()
    } catch (error) {
      if (generation === this.#generation) this.#fault(error)
    }
  }

  async #readFrames(raws: readonly RawFrame[]): Promise<void> {
    const { upstream, signers, park } = this.#deps
    const generation = this.#generation
    const frames = raws.flatMap((raw) => this.#decode(raw) ?? [])
    const proven = await Promise.all(frames.map((frame) => proveEvents(frame, signers, upstream.origin)))
    const taken = proven.map((events) => events.map(takePack))
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
        this.#lastError = { at: now(), message: `unreadable: ${frame.reason}` }
        return null
      case 'notice':
        this.#heed(frame.name)
        return null
      case 'error':
        this.#heed(frame.name)
        if (this.#connection !== null) this.#end(this.#connection, `${frame.name}: ${frame.message}`)
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
    let fitting = event
    let bytes = eventBytes(event)
    if (bytes > limits.batchBytes) {
      this.#counts.tooLarge++
      fitting = listInstead(event)
      bytes = eventBytes(fitting)
    }
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

  /** Writes down what is gathered, and sends it. */
  #flush(): void {
    const { store, upstream, now } = this.#deps
    const events = this.#gathered.take()
    if (events.length === 0) return
    // Of a message that is split only its end moves on: whoever begins before it gets it whole.
    const batch = store.addBatch(this.#seen, now())
    this.#counts.batches++
    const sending = this.#send({ kind: 'events', upstream: upstream.name, batch, events }).finally(() => {
      this.#sending.delete(sending)
    })
    this.#sending.add(sending)
  }

  async #send(message: EventsMessage): Promise<void> {
    const { send, store } = this.#deps
    try {
      await send(message)
    } catch (error) {
      if (store.rewind(message.batch)) this.#fault(error)
    }
  }

  #rewindIfStuck(): void {
    const { store, limits, now, onRewind } = this.#deps
    const oldest = store.oldest()
    if (oldest === null) return
    // As long as others are applied that were sent before it, it has its turn.
    const isOvertaken = this.#highestApplied > oldest.number
    const since = isOvertaken ? oldest.sentAt : Math.max(oldest.sentAt, this.#progressAt)
    if (now() - since < patienceAfter(this.#rewinds, limits)) return
    this.#rewinds++
    this.#counts.rewinds++
    onRewind(oldest.number)
    store.rewind()
    this.#giveUp()
    this.#isPaused = false
    this.#progressAt = now()
    this.#connectIn(0)
  }

  #endIfSilent(): void {
    const connection = this.#connection
    if (connection?.socket == null || this.#lastFrameAt === null) return
    const silence = this.#deps.now() - this.#lastFrameAt
    if (silence < this.#silence.longest()) return
    this.#leave(connection)
    this.#connectAt = 0
  }

  /** For an object that wakes, and cannot connect. */
  #noteReached(): void {
    const { store, now } = this.#deps
    if (this.#connection?.socket != null || this.#isPaused) store.noteReached(now())
  }

  /** A quiet stream moves on too. */
  #savePosition(): void {
    const { store } = this.#deps
    if (this.#gathered.size === 0 && this.#seen !== store.position()) store.setPosition(this.#seen)
  }
}

/** The account is listed in its place: there it may be of any size. */
function listInstead(event: StreamEvent): SyncEvent {
  const { did, cursor, time } = event
  return { kind: 'sync', did, cursor, time, rev: 'rev' in event ? event.rev : '' }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Before anything is proven: of the others not even that is worth it. */
function ofFollowed(frame: EventsFrame, isFollowed: (did: string) => boolean): EventsFrame {
  const events = frame.events.filter(({ did }) => isFollowed(did))
  return events.length === frame.events.length ? frame : { ...frame, events }
}

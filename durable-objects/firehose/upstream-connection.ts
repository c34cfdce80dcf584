import type { RawFrame } from '../../atproto/firehose/decode-frame.ts'
import { type Connect, SubscriptionRefusedError, type UpstreamSocket } from './connect.ts'
import type { FirehoseLimits } from './limits.ts'
import { pauseBefore, Silence } from './pauses.ts'

export interface ConnectionDeps {
  readonly limits: FirehoseLimits
  readonly connect: Connect
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly random: () => number
  /** Runs something later, if the object is still there. */
  readonly later: (milliseconds: number, run: () => void) => void
  /** Has `tick` called by that time, whatever becomes of the object. */
  readonly wakeBy: (time: number) => void
  readonly onFailure: (reason: string) => void
}

export interface ConnectionEvents {
  readonly onOpen: () => void
  readonly onFrame: (frame: RawFrame) => void
  /** The upstream refuses to be followed. @param error the name of why, as in XRPC */
  readonly onRefused: (error: string) => void
  /** Another try is due. */
  readonly onDue: () => void
}

interface Current {
  /** Null: it is not open yet. */
  socket: UpstreamSocket | null
  openedAt: number
}

/** The connection to an upstream: one at a time, and when there is to be another. */
export class UpstreamConnection {
  readonly #deps: ConnectionDeps
  readonly #events: ConnectionEvents
  readonly #silence: Silence
  #current: Current | null = null
  #failures = 0
  #dueAt = 0
  #lastFrameAt: number | null = null
  #lastError: { readonly at: number; readonly message: string } | null = null
  #count = 0

  constructor(deps: ConnectionDeps, events: ConnectionEvents) {
    this.#deps = deps
    this.#events = events
    this.#silence = new Silence(deps.limits)
  }

  /** Whether there is one, or one is being made. */
  get isThere(): boolean {
    return this.#current !== null
  }

  get isOpen(): boolean {
    return this.#current?.socket != null
  }

  /** Whether another may be made. */
  get isDue(): boolean {
    return this.#current === null && this.#deps.now() >= this.#dueAt
  }

  get lastFrameAt(): number | null {
    return this.#lastFrameAt
  }

  get lastError(): { readonly at: number; readonly message: string } | null {
    return this.#lastError
  }

  /** How many there have been. */
  get count(): number {
    return this.#count
  }

  /** @param url of the subscription */
  async open(url: string): Promise<void> {
    const { connect, now } = this.#deps
    const current: Current = { socket: null, openedAt: now() }
    this.#current = current
    try {
      const socket = await connect(url, {
        onFrame: (frame) => this.#take(current, frame),
        onEnd: (reason) => this.#end(current, reason),
      })
      if (this.#current !== current) return socket.close()
      current.socket = socket
      current.openedAt = now()
      this.#count++
      this.#lastFrameAt = now()
      this.#events.onOpen()
    } catch (error) {
      if (this.#current !== current) return
      if (error instanceof SubscriptionRefusedError) this.#events.onRefused(error.error)
      this.#end(current, messageOf(error))
    }
  }

  /** The upstream has said that it ends. What has come is read all the same. */
  end(reason: string): void {
    if (this.#current !== null) this.#end(this.#current, reason)
  }

  /** Nothing comes by it any more. */
  leave(): void {
    this.#current?.socket?.close()
    this.#current = null
  }

  /** One that hangs looks like one on which nothing happens: it is left, and another is due. */
  leaveIfSilent(): void {
    if (!this.isOpen || this.#lastFrameAt === null) return
    if (this.#deps.now() - this.#lastFrameAt < this.#silence.longest()) return
    this.leave()
    this.#dueAt = 0
  }

  /** Something has failed, here or there: another one is due later each time. */
  fail(error: unknown): void {
    const { limits, random, onFailure } = this.#deps
    const message = messageOf(error)
    this.note(message)
    onFailure(message)
    this.dueIn(pauseBefore(this.#failures++, limits, random))
  }

  /** Something has gone wrong that stops nothing. */
  note(message: string): void {
    this.#lastError = { at: this.#deps.now(), message }
  }

  dueIn(milliseconds: number): void {
    const { now, later, wakeBy } = this.#deps
    this.#dueAt = now() + milliseconds
    wakeBy(this.#dueAt)
    later(milliseconds, () => this.#events.onDue())
  }

  #take(current: Current, frame: RawFrame): void {
    if (this.#current !== current) return
    const { now } = this.#deps
    if (this.#lastFrameAt !== null) this.#silence.note(now() - this.#lastFrameAt)
    this.#lastFrameAt = now()
    this.#events.onFrame(frame)
  }

  #end(current: Current, reason: string): void {
    if (this.#current !== current) return
    const { limits, now } = this.#deps
    const wasSteady = current.socket !== null && now() - current.openedAt >= limits.steadyAfter
    if (wasSteady) this.#failures = 0
    this.leave()
    this.fail(reason)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

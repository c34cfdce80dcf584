import type { Oid } from '../bytes/oid.ts'
import type { Capabilities } from './capabilities.ts'
import type { FetchRequest } from './fetch-request.ts'
import type { PktLineWriter } from './pkt-line-writer.ts'
import type { UploadRequest } from './upload-request.ts'

/** What negotiation asks of the repository. */
export interface NegotiationStore {
  /** Whether the repository has the object. */
  has(oid: Oid): boolean
  /**
   * Whether enough is known to stop asking: every want reaches something that client and server have in common (git's
   * `ok_to_give_up`). Never called without commons.
   */
  canGiveUp(commons: readonly Oid[]): boolean
}

/** The answer to one round of haves. */
export interface Round {
  /** Haves that the repository has, each once. */
  readonly commons: readonly Oid[]
  /** Whether the pack follows in the same answer. */
  readonly sendsPack: boolean
  /** Writes the acknowledgments, and the mark that ends them. */
  write(writer: PktLineWriter): void
}

/** A round of v2: nothing is kept between rounds, a client repeats what has been acknowledged. */
export function negotiateV2(request: FetchRequest, store: NegotiationStore): Round {
  const commons = request.haves.filter((oid) => store.has(oid))
  const wantsNothing = request.wants.length === 0 && request.wantRefs.length === 0
  if (wantsNothing && !request.waitForDone) return { commons, sendsPack: false, write: () => undefined }
  if (request.done || request.haves.length === 0) {
    return { commons, sendsPack: !wantsNothing, write: () => undefined }
  }
  const ready = !request.waitForDone && commons.length > 0 && store.canGiveUp(commons)
  return {
    commons,
    sendsPack: ready,
    write(writer) {
      writer.line('acknowledgments\n')
      if (commons.length === 0) writer.line('NAK\n')
      for (const oid of commons) writer.line(`ACK ${oid}\n`)
      if (ready) writer.line('ready\n')
      if (ready) writer.delim()
      else writer.flush()
    },
  }
}

/** How a v0 client wants its haves acknowledged. */
type AckMode = 'single' | 'multi_ack' | 'multi_ack_detailed'

function ackMode(capabilities: Capabilities): AckMode {
  if (capabilities.has('multi_ack_detailed')) return 'multi_ack_detailed'
  return capabilities.has('multi_ack') ? 'multi_ack' : 'single'
}

/** A round of v0 or v1 over HTTP: the lines that git's `get_common_commits` sends, in its order. */
export function negotiateV0(request: UploadRequest, store: NegotiationStore): Round {
  if (request.wants.length === 0 || request.asksForEnds) {
    return { commons: [], sendsPack: false, write: () => undefined }
  }
  const mode = ackMode(request.capabilities)
  const commons = new Set<Oid>()
  const lines: string[] = []
  let last: Oid | null = null
  let lacksSome = false
  let ready = false
  const question = new GiveUpQuestion(commons, store)
  for (const oid of request.haves) {
    if (store.has(oid)) {
      commons.add(oid)
      last = oid
      if (mode === 'multi_ack_detailed') lines.push(`ACK ${oid} common\n`)
      else if (mode === 'multi_ack') lines.push(`ACK ${oid} continue\n`)
      else if (commons.size === 1 && lines.length === 0) lines.push(`ACK ${oid}\n`)
    } else {
      lacksSome = true
      if (mode === 'single' || !question.ask()) continue
      if (mode === 'multi_ack_detailed') ready = true
      lines.push(`ACK ${oid} ${mode === 'multi_ack_detailed' ? 'ready' : 'continue'}\n`)
    }
  }
  let sendsPack = request.done
  if (request.done) {
    if (last === null) lines.push('NAK\n')
    else if (mode !== 'single') lines.push(`ACK ${last}\n`)
  } else {
    const isOpen = !lacksSome || question.isExhausted
    if (mode === 'multi_ack_detailed' && last !== null && !ready && isOpen && question.askOnceMore()) {
      ready = true
      lines.push(`ACK ${last} ready\n`)
    }
    if (last === null || mode !== 'single') lines.push('NAK\n')
    if (ready && request.capabilities.has('no-done')) {
      sendsPack = true
      lines.push(`ACK ${last}\n`)
    }
  }
  return {
    commons: [...commons],
    sendsPack,
    write(writer) {
      for (const line of lines) writer.line(line)
    },
  }
}

/** How often it is asked in the middle of a round whether enough is known. git asks again and again. */
const QUESTIONS_LIMIT = 16

/**
 * Whether enough is known to stop: asked only when a common has been added, and not often. A client may send thousands
 * of haves, known and unknown in turn, and each answer costs what the commons before it do.
 */
class GiveUpQuestion {
  readonly #commons: ReadonlySet<Oid>
  readonly #store: NegotiationStore
  #size = 0
  #answer = false
  #left = QUESTIONS_LIMIT

  constructor(commons: ReadonlySet<Oid>, store: NegotiationStore) {
    this.#commons = commons
    this.#store = store
  }

  /** Whether there were commons that were not asked about. */
  get isExhausted(): boolean {
    return this.#left === 0 && this.#commons.size !== this.#size
  }

  ask(): boolean {
    return this.#left > 0 ? this.askOnceMore() : this.#answer
  }

  askOnceMore(): boolean {
    if (this.#answer || this.#commons.size === this.#size) return this.#answer
    this.#left--
    this.#size = this.#commons.size
    this.#answer = this.#store.canGiveUp([...this.#commons])
    return this.#answer
  }
}

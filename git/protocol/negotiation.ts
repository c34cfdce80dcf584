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
  if (request.wants.length === 0) return { commons: [], sendsPack: false, write: () => undefined }
  const mode = ackMode(request.capabilities)
  const commons = new Set<Oid>()
  const lines: string[] = []
  let last: Oid | null = null
  let lacksSome = false
  let ready = false
  const canGiveUp = rememberBySize(commons, store)
  for (const oid of request.haves) {
    if (store.has(oid)) {
      commons.add(oid)
      last = oid
      if (mode === 'multi_ack_detailed') lines.push(`ACK ${oid} common\n`)
      else if (mode === 'multi_ack') lines.push(`ACK ${oid} continue\n`)
      else if (commons.size === 1 && lines.length === 0) lines.push(`ACK ${oid}\n`)
    } else {
      lacksSome = true
      if (mode === 'single' || !canGiveUp()) continue
      if (mode === 'multi_ack_detailed') ready = true
      lines.push(`ACK ${oid} ${mode === 'multi_ack_detailed' ? 'ready' : 'continue'}\n`)
    }
  }
  let sendsPack = request.done
  if (request.done) {
    if (last === null) lines.push('NAK\n')
    else if (mode !== 'single') lines.push(`ACK ${last}\n`)
  } else {
    if (mode === 'multi_ack_detailed' && last !== null && !lacksSome && canGiveUp()) {
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

/** The answer changes only when a common is added: a client may ask with thousands of haves that are not known. */
function rememberBySize(commons: ReadonlySet<Oid>, store: NegotiationStore): () => boolean {
  let size = 0
  let answer = false
  return () => {
    if (commons.size !== size) {
      size = commons.size
      answer = answer || store.canGiveUp([...commons])
    }
    return answer
  }
}

import type { Oid } from '../bytes/oid.ts'
import { type Capabilities, checkObjectFormat, decodeCapabilities } from './capabilities.ts'
import { type Deepen, DeepenReader } from './deepen.ts'
import { expectOid, splitKeyword } from './oid-line.ts'
import { END, FLUSH, lineText } from './pkt-line.ts'
import type { PktLineReader } from './pkt-line-reader.ts'
import { ProtocolError } from './protocol-error.ts'

/** An upload-pack request of v0 or v1 as it comes over HTTP: whole, without a conversation (gitprotocol-pack). */
export interface UploadRequest {
  /** Each once. None: the client wants nothing, and the answer is empty. */
  readonly wants: readonly Oid[]
  readonly capabilities: Capabilities
  readonly deepen: Deepen
  /** In the order in which they came: each is answered. */
  readonly haves: readonly Oid[]
  readonly done: boolean
  /** The request ends after the wants: the client asks where its history will end, and for nothing else yet. */
  readonly asksForEnds: boolean
}

/** @throws {@link ProtocolError} also for a body that is empty or cut off. */
export async function readUploadRequest(reader: PktLineReader): Promise<UploadRequest> {
  const needs = await readNeeds(reader)
  const negotiation = needs.wants.length === 0 ? NO_HAVES : await readHaves(reader)
  return { ...needs, ...negotiation }
}

type Negotiation = Pick<UploadRequest, 'haves' | 'done' | 'asksForEnds'>

const NO_HAVES: Negotiation = { haves: [], done: false, asksForEnds: false }

async function readNeeds(reader: PktLineReader): Promise<Pick<UploadRequest, 'wants' | 'capabilities' | 'deepen'>> {
  const wants = new Set<Oid>()
  const deepen = new DeepenReader()
  let capabilities: Capabilities | null = null
  for (;;) {
    const packet = await reader.read()
    if (packet === FLUSH) break
    if (packet === END) throw new ProtocolError('the request is cut off')
    if (typeof packet === 'string') throw new ProtocolError(`unexpected ${packet} packet`)
    const line = lineText(packet)
    if (deepen.take(line)) continue
    const [keyword, value] = splitKeyword(line)
    if (keyword !== 'want' || value === null) throw new ProtocolError(`expected a want, got '${line}'`)
    // Only the first want carries capabilities.
    const [oid, words] = splitKeyword(value)
    wants.add(expectOid(oid, keyword))
    capabilities ??= decodeCapabilities(words ?? '')
  }
  capabilities ??= new Map()
  checkObjectFormat(capabilities)
  const asked = deepen.finish(capabilities.has('deepen-relative'))
  if (asked.filter !== null && !capabilities.has('filter')) throw new ProtocolError('filter was not negotiated')
  return { wants: [...wants], capabilities, deepen: asked }
}

/** Reads up to `done`, the first flush or the end: over HTTP every round is a request of its own. */
async function readHaves(reader: PktLineReader): Promise<Negotiation> {
  const haves: Oid[] = []
  for (let asksForEnds = true; ; asksForEnds = false) {
    const packet = await reader.read()
    if (packet === END) return { haves, done: false, asksForEnds }
    if (packet === FLUSH) return { haves, done: false, asksForEnds: false }
    if (typeof packet === 'string') throw new ProtocolError(`unexpected ${packet} packet`)
    const line = lineText(packet)
    if (line === 'done') return { haves, done: true, asksForEnds: false }
    const [keyword, value] = splitKeyword(line)
    if (keyword !== 'have') throw new ProtocolError(`expected a have, got '${line}'`)
    haves.push(expectOid(value, keyword))
  }
}

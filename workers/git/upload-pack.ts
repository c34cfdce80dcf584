import type { Oid } from '../../git/bytes/oid.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { writePack } from '../../git/pack/write-pack.ts'
import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { type FetchRequest, readFetchRequest } from '../../git/protocol/fetch-request.ts'
import { negotiateFrom } from '../../git/protocol/graph-negotiation.ts'
import { encodeLsRefs, readLsRefsRequest } from '../../git/protocol/ls-refs.ts'
import { type NegotiationStore, negotiateV0, negotiateV2, type Round } from '../../git/protocol/negotiation.ts'
import { errorLine, pktLine } from '../../git/protocol/pkt-line.ts'
import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { PktLineWriter } from '../../git/protocol/pkt-line-writer.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { parseGitProtocol } from '../../git/protocol/protocol-version.ts'
import {
  BAND_DATA,
  BAND_ERROR,
  BAND_PROGRESS,
  SIDE_BAND_64K_DATA,
  sideBand,
  sideBandLimit,
} from '../../git/protocol/side-band.ts'
import { unsupportedDeepen, unsupportedFetch } from '../../git/protocol/unsupported.ts'
import { readUploadRequest, type UploadRequest } from '../../git/protocol/upload-request.ts'
import { readV2Command } from '../../git/protocol/v2-command.ts'
import { planFetch } from '../../git/walk/plan-fetch.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import { Mirror, withGraphs } from '../mirror.ts'
import type { RequestContext } from '../request-context.ts'
import { requestBody, requireContentType, streamedResponse } from './git-request.ts'
import { logCost } from './log-cost.ts'
import { withProgress } from './progress.ts'

const REQUEST_TYPE = 'application/x-git-upload-pack-request'
const RESULT_TYPE = 'application/x-git-upload-pack-result'

/** POST git-upload-pack, in any version of the protocol. */
export async function uploadPack(
  context: RequestContext,
  request: Request,
  actor: string,
  name: string,
): Promise<Response> {
  requireContentType(request, REQUEST_TYPE)
  const { identity, entry } = await context.locate(actor, name)
  const mirror = new Mirror(context, identity, entry.rkey)
  const reader = new PktLineReader(requestBody(request))
  if (parseGitProtocol(request.headers.get('Git-Protocol')) === 2) return answerV2(mirror, reader)
  const wanted = await readUploadRequest(reader)
  const refusal = unsupportedDeepen(wanted.deepen)
  if (refusal !== null) throw new ProtocolError(refusal)
  if (wanted.wants.length === 0) return streamedResponse(RESULT_TYPE, nothing())
  return streamedResponse(RESULT_TYPE, logCost('fetched', mirror, answerFetch(mirror, new V0Fetch(wanted))))
}

async function answerV2(mirror: Mirror, reader: PktLineReader): Promise<Response> {
  const command = await readV2Command(reader)
  if (command === null) return streamedResponse(RESULT_TYPE, nothing())
  if (command.command === 'ls-refs') {
    const wanted = await readLsRefsRequest(reader, command)
    const manifest = await mirror.refsManifest()
    const head = resolveHead(manifest.refs, manifest.defaultBranch)
    return streamedResponse(RESULT_TYPE, toAsync(encodeLsRefs(wanted, { head, refs: manifest.refs })))
  }
  if (command.command !== 'fetch') throw new ProtocolError(`unknown command '${command.command}'`)
  const wanted = await readFetchRequest(reader, command)
  const refusal = unsupportedFetch(wanted)
  if (refusal !== null) throw new ProtocolError(refusal)
  return streamedResponse(RESULT_TYPE, logCost('fetched', mirror, answerFetch(mirror, new V2Fetch(wanted))))
}

/** What differs between the versions of the protocol once a request has been read. */
interface Fetch {
  readonly wants: readonly Oid[]
  readonly haves: readonly Oid[]
  readonly thinPack: boolean
  readonly ofsDelta: boolean
  readonly includeTag: boolean
  readonly noProgress: boolean
  /** Data bytes of a side-band packet, or null for a bare pack. */
  readonly bandLimit: number | null
  /** What precedes the pack in any case, if the client says nothing that is to be answered: progress can follow it. */
  readonly preamble: Uint8Array | null
  negotiate(store: NegotiationStore): Round
  /** Between the acknowledgments and the pack. */
  readonly packHeader: Uint8Array | null
}

class V2Fetch implements Fetch {
  readonly #request: FetchRequest
  readonly bandLimit = SIDE_BAND_64K_DATA
  readonly packHeader = pktLine('packfile\n')

  constructor(request: FetchRequest) {
    this.#request = request
  }

  get wants() {
    return this.#request.wants
  }

  get haves() {
    return this.#request.haves
  }

  get thinPack() {
    return this.#request.thinPack
  }

  get ofsDelta() {
    return this.#request.ofsDelta
  }

  get includeTag() {
    return this.#request.includeTag
  }

  get noProgress() {
    return this.#request.noProgress
  }

  get preamble() {
    const { done, haves, wants } = this.#request
    return wants.length > 0 && (done || haves.length === 0) ? this.packHeader : null
  }

  negotiate(store: NegotiationStore): Round {
    return negotiateV2(this.#request, store)
  }
}

class V0Fetch implements Fetch {
  readonly #request: UploadRequest
  readonly packHeader = null

  constructor(request: UploadRequest) {
    this.#request = request
  }

  get wants() {
    return this.#request.wants
  }

  get haves() {
    return this.#request.haves
  }

  get thinPack() {
    return this.#request.capabilities.has('thin-pack')
  }

  get ofsDelta() {
    return this.#request.capabilities.has('ofs-delta')
  }

  get includeTag() {
    return this.#request.capabilities.has('include-tag')
  }

  get noProgress() {
    return this.#request.capabilities.has('no-progress')
  }

  get bandLimit() {
    return sideBandLimit(this.#request.capabilities)
  }

  get preamble() {
    const { done, haves } = this.#request
    return done && haves.length === 0 && this.bandLimit !== null ? pktLine('NAK\n') : null
  }

  negotiate(store: NegotiationStore): Round {
    return negotiateV0(this.#request, store)
  }
}

/** Answers one round: acknowledgments, and the pack where it is time. Errors travel in the answer. */
async function* answerFetch(mirror: Mirror, fetch: Fetch): AsyncGenerator<Uint8Array> {
  let isInBand = false
  try {
    const { preamble } = fetch
    if (preamble !== null) {
      yield preamble
      isInBand = true
    }
    const manifest = yield* mirrored(mirror, fetch, isInBand)
    const packs = await withGraphs(await mirror.packs(manifest))
    const objects = new PackedObjects(packs)
    const graph = RepositoryGraph.of(packs)
    for (const oid of fetch.wants) {
      if (objects.find(oid) === null) throw new ProtocolError(`upload-pack: not our ref ${oid}`)
    }
    const round = fetch.negotiate(negotiateFrom(graph, fetch.wants))
    if (preamble === null) {
      const writer = new PktLineWriter()
      round.write(writer)
      yield* writer.takeAll()
    }
    if (!round.sendsPack) return
    if (preamble === null && fetch.packHeader !== null) yield fetch.packHeader
    isInBand = fetch.bandLimit !== null
    const plan = await planFetch(
      graph,
      { wants: fetch.wants, haves: round.commons, ...(fetch.includeTag ? { includeTags: manifest.refs } : {}) },
      objects,
    )
    const pack = writePack(packs, plan.selection, {
      ofsDelta: fetch.ofsDelta,
      client: fetch.thinPack ? plan.client : null,
      objects,
    })
    if (isInBand && !fetch.noProgress) yield sideBand(BAND_PROGRESS, `Enumerating objects: ${pack.objects}, done.\n`)
    yield* framed(pack.chunks(), fetch.bandLimit)
    if (isInBand && !fetch.noProgress)
      yield sideBand(BAND_PROGRESS, `Total ${pack.objects} objects, copied as they are stored.\n`)
    if (isInBand) yield new TextEncoder().encode('0000')
  } catch (error) {
    yield errorPacket(error, isInBand)
  }
}

/** Waits for a mirror that is still being filled, and tells how it goes where the client can be told. */
async function* mirrored(mirror: Mirror, fetch: Fetch, isInBand: boolean): AsyncGenerator<Uint8Array, Manifest> {
  const work = withProgress((tell) => mirror.completeManifest(tell))
  let step = await work.next()
  for (; !step.done; step = await work.next()) {
    if (isInBand && !fetch.noProgress) yield sideBand(BAND_PROGRESS, step.value)
  }
  return step.value
}

async function* framed(chunks: AsyncIterable<Uint8Array>, limit: number | null): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield limit === null ? chunk : sideBand(BAND_DATA, chunk, limit)
}

/** Says what went wrong to a client that has had its headers: as an `ERR` line, or in the error band of the pack. */
function errorPacket(error: unknown, isInBand: boolean): Uint8Array {
  const { message } =
    error instanceof ProtocolError || error instanceof MissingObjectError ? error : httpErrorFrom(error)
  return isInBand ? sideBand(BAND_ERROR, `${message}\n`) : errorLine(message)
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // An answer without a body.
}

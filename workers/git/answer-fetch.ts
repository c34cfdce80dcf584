import { log } from '../../durable-objects/log.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { writePack } from '../../git/pack/write-pack.ts'
import { type AdvertisedRefs, resolveHead } from '../../git/protocol/advertised-refs.ts'
import { type Deepen, isDeepening } from '../../git/protocol/deepen.ts'
import { negotiateFrom } from '../../git/protocol/graph-negotiation.ts'
import type { NegotiationStore, Round } from '../../git/protocol/negotiation.ts'
import { errorLine } from '../../git/protocol/pkt-line.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { resolveShallowUpdate } from '../../git/protocol/shallow-info.ts'
import { BAND_DATA, BAND_ERROR, BAND_PROGRESS, sideBand } from '../../git/protocol/side-band.ts'
import { resolveWantedRefs, type WantedRef } from '../../git/protocol/wanted-refs.ts'
import { planFetch } from '../../git/walk/plan-fetch.ts'
import type { ShallowUpdate } from '../../git/walk/shallow-update.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { HttpError } from '../http/http-error.ts'
import { type Mirror, withGraphs } from '../mirror.ts'
import { withProgress } from './progress.ts'

/** One request of a fetch, whatever the version of the protocol. */
export interface Fetch {
  readonly request: { readonly wants: readonly Oid[]; readonly haves: readonly Oid[]; readonly deepen: Deepen }
  /** Names of refs that are wanted whatever they point at by now. */
  readonly wantRefs: readonly string[]
  readonly thinPack: boolean
  readonly ofsDelta: boolean
  readonly includeTag: boolean
  readonly noProgress: boolean
  /** Data bytes of a side-band packet, or null for a bare pack. */
  readonly bandLimit: number | null
  /** Whether all of the answer is in side bands, and not only the pack. */
  readonly isBandedFromStart: boolean
  /** The head where neither the refs nor the haves nor the ends of history have a say in it: progress can follow it. */
  readonly constantHead: Uint8Array | null
  negotiate(store: NegotiationStore): Round
  /** All that precedes the pack. */
  writeHead(head: FetchHead): Uint8Array[]
}

/** What the head of an answer tells. */
export interface FetchHead {
  readonly graph: RepositoryGraph
  readonly round: Round
  /** How the ends of the client's history move, or null if it has not asked for that. */
  readonly update: ShallowUpdate | null
  readonly wantedRefs: readonly WantedRef[]
}

/** Answers one round: its head, and the pack where it is time. Errors travel in the answer. */
export async function* answerFetch(mirror: Mirror, fetch: Fetch): AsyncGenerator<Uint8Array> {
  const { deepen } = fetch.request
  const constantHead = isDeepening(deepen) || deepen.shallow.length > 0 ? null : fetch.constantHead
  let isInBand = fetch.isBandedFromStart
  try {
    if (constantHead !== null) {
      yield constantHead
      isInBand = true
    }
    const manifest = yield* mirrored(mirror, fetch, isInBand)
    const refs = advertisedRefs(manifest)
    const packs = await withGraphs(await mirror.packs(manifest))
    const objects = new PackedObjects(packs)
    const graph = RepositoryGraph.of(packs)
    const wantedRefs = resolveWantedRefs(fetch.wantRefs, refs)
    const wants = [...fetch.request.wants, ...wantedRefs.map(({ target }) => target)]
    for (const oid of wants) {
      if (objects.find(oid) === null) throw new ProtocolError(`upload-pack: not our ref ${oid}`)
    }
    const update = resolveShallowUpdate(deepen, wants, graph, refs)
    const round = fetch.negotiate(negotiateFrom(graph, wants))
    if (constantHead === null) yield* fetch.writeHead({ graph, round, update, wantedRefs })
    if (!round.sendsPack) return
    isInBand = fetch.bandLimit !== null
    const plan = await planFetch(
      graph,
      {
        wants,
        haves: round.commons,
        shallow: deepen.shallow,
        ...(update === null ? {} : { update }),
        ...(deepen.filter === null ? {} : { filter: deepen.filter }),
        ...(fetch.includeTag ? { includeTags: manifest.refs } : {}),
      },
      objects,
    )
    const pack = writePack(packs, plan.selection, {
      ofsDelta: fetch.ofsDelta,
      // What a filter has left out before is no base for a delta, and only the client knows what that was.
      client: fetch.thinPack && deepen.filter === null ? plan.client : null,
      objects,
    })
    const tells = isInBand && !fetch.noProgress
    if (tells) yield sideBand(BAND_PROGRESS, `Enumerating objects: ${pack.objects}, done.\n`)
    yield* framed(pack.chunks(), fetch.bandLimit)
    if (tells) yield sideBand(BAND_PROGRESS, `Total ${pack.objects} objects, copied as they are stored.\n`)
    if (isInBand) yield new TextEncoder().encode('0000')
  } catch (error) {
    yield errorPacket(error, isInBand)
  }
}

function advertisedRefs({ refs, defaultBranch }: Manifest): AdvertisedRefs {
  return { head: resolveHead(refs, defaultBranch), refs }
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
  const isForClient =
    error instanceof ProtocolError || error instanceof HttpError || error instanceof MissingObjectError
  if (!isForClient) log('fetch-failed', { reason: String(error), stack: (error as Error).stack })
  const message = isForClient ? error.message : 'the server failed; try again'
  return isInBand ? sideBand(BAND_ERROR, `${message}\n`) : errorLine(message)
}

import type { Mirror } from '../../durable-objects/repository/mirror.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { type WrittenPack, writePack } from '../../git/pack/write-pack.ts'
import { type AdvertisedRefs, resolveHead } from '../../git/protocol/advertised-refs.ts'
import { negotiateFrom } from '../../git/protocol/graph-negotiation.ts'
import { errorLine } from '../../git/protocol/pkt-line.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { resolveShallowUpdate } from '../../git/protocol/shallow-info.ts'
import { BAND_ERROR, BAND_PROGRESS, DataFramer, sideBand } from '../../git/protocol/side-band.ts'
import { resolveWantedRefs } from '../../git/protocol/wanted-refs.ts'
import { type FetchWish, type FindTags, planFetch } from '../../git/walk/plan-fetch.ts'
import type { ShallowUpdate } from '../../git/walk/shallow-update.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { withGraphs } from '../../storage/packs/open-packs.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import type { FetchForm } from './fetch-form.ts'
import { FLUSH_PACKET } from './git-request.ts'
import { withProgress } from './progress.ts'

/**
 * Answers one round: its head, and the pack where it is time. Errors travel in the answer, except in a pack that is not
 * in side bands: there is no place for words in it, so they are thrown. Buffers are used again: a chunk is there until
 * the next is asked for.
 *
 * @param keep what is done with an answer that has no error in it; default nothing
 */
export async function* answerFetch(
  mirror: Mirror,
  fetch: FetchForm,
  keep: (answer: AsyncGenerator<Uint8Array>) => AsyncGenerator<Uint8Array> = (answer) => answer,
): AsyncGenerator<Uint8Array, void, undefined> {
  const place = { isInBand: fetch.isBandedFromStart, isBarePack: false }
  try {
    yield* keep(writeAnswer(mirror, fetch, place))
  } catch (error) {
    if (place.isBarePack) throw error
    yield errorPacket(error, place.isInBand)
  }
}

/** @param place whether what comes next is in side bands, or a pack without them, kept up to date */
async function* writeAnswer(
  mirror: Mirror,
  fetch: FetchForm,
  place: { isInBand: boolean; isBarePack: boolean },
): AsyncGenerator<Uint8Array, void, undefined> {
  if (fetch.constantHead !== null) {
    yield fetch.constantHead
    place.isInBand = true
  }
  const manifest = yield* mirrored(mirror, fetch, place.isInBand)
  const refs = advertisedRefs(manifest)
  const packs = await withGraphs(await mirror.packs(manifest))
  const objects = mirror.memory.enter(new PackedObjects(packs))
  const graph = RepositoryGraph.of(packs)
  const wantedRefs = resolveWantedRefs(fetch.wantRefs, refs)
  const wants = [...fetch.wants, ...wantedRefs.map(({ target }) => target)]
  for (const oid of wants) {
    if (objects.find(oid) === null) throw new ProtocolError(`upload-pack: not our ref ${oid}`)
  }
  const update = resolveShallowUpdate(fetch.deepen, wants, graph, refs)
  const round = fetch.negotiate(negotiateFrom(graph, wants))
  if (fetch.constantHead === null) yield* fetch.encodeHead({ graph, round, update, wantedRefs })
  if (!round.sendsPack) return
  place.isInBand = fetch.bandLimit !== null
  const findTags: FindTags = (peeled) => mirror.annotatedTags(manifest, peeled)
  const wish = fetchWish(fetch, { wants, haves: round.commons, update, findTags })
  const { selection, client } = await planFetch(graph, wish, objects)
  // What a filter has left out before is no base for a delta, and only the client knows what that was.
  const isThin = fetch.thinPack && fetch.deepen.filter === null
  const options = { ofsDelta: fetch.ofsDelta, client: isThin ? client : null, objects, memory: mirror.memory }
  const pack = writePack(packs, selection, options)
  place.isBarePack = fetch.bandLimit === null
  yield* framedPack(pack, fetch)
}

function advertisedRefs({ refs, defaultBranch }: Manifest): AdvertisedRefs {
  return { head: resolveHead(refs, defaultBranch), refs }
}

interface Agreed {
  readonly wants: readonly Oid[]
  readonly haves: readonly Oid[]
  readonly update: ShallowUpdate | null
  readonly findTags: FindTags
}

function fetchWish({ deepen, includeTag }: FetchForm, { wants, haves, update, findTags }: Agreed): FetchWish {
  const { shallow, filter } = deepen
  return { wants, haves, shallow, update, filter, findTags: includeTag ? findTags : null }
}

/** Waits for a mirror that is still being filled, and tells how it goes where the client can be told. */
async function* mirrored(mirror: Mirror, fetch: FetchForm, isInBand: boolean): AsyncGenerator<Uint8Array, Manifest> {
  const work = withProgress((tell) => mirror.completeManifest(fetch.namedRefs, tell))
  let step = await work.next()
  for (; !step.done; step = await work.next()) {
    if (isInBand && !fetch.noProgress) yield sideBand(BAND_PROGRESS, step.value)
  }
  return step.value
}

/** The pack, bare or in the data band with a word before and after it. */
async function* framedPack(pack: WrittenPack, { bandLimit, noProgress }: FetchForm): AsyncGenerator<Uint8Array> {
  if (bandLimit === null) return yield* pack.chunks()
  if (!noProgress) yield sideBand(BAND_PROGRESS, `Enumerating objects: ${pack.objects}, done.\n`)
  const framer = new DataFramer(bandLimit)
  for await (const chunk of pack.chunks()) yield framer.frame(chunk)
  if (!noProgress) yield sideBand(BAND_PROGRESS, `Total ${pack.objects} objects, copied as they are stored.\n`)
  yield FLUSH_PACKET
}

/** Says what went wrong to a client that has had its headers: as an `ERR` line, or in the error band of the pack. */
function errorPacket(error: unknown, isInBand: boolean): Uint8Array {
  const { message } =
    error instanceof ProtocolError || error instanceof MissingObjectError ? error : httpErrorFrom(error)
  return isInBand ? sideBand(BAND_ERROR, `${message}\n`) : errorLine(message)
}

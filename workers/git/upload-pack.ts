import { logRoutine } from '../../durable-objects/log.ts'
import type { Mirror } from '../../durable-objects/repository/mirror.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { readFetchRequest } from '../../git/protocol/fetch-request.ts'
import { encodeLsRefs, type LsRefsRequest, readLsRefsRequest } from '../../git/protocol/ls-refs.ts'
import { encodeObjectInfo, readObjectInfoRequest } from '../../git/protocol/object-info.ts'
import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { parseGitProtocol } from '../../git/protocol/protocol-version.ts'
import { readUploadRequest } from '../../git/protocol/upload-request.ts'
import { readV2Command, type V2Command } from '../../git/protocol/v2-command.ts'
import { ALL_REFS, NO_REFS } from '../../git/refs/ref-selection.ts'
import { pumpChunks } from '../http/byte-stream.ts'
import { saysNoStore } from '../http/no-store.ts'
import type { RequestContext } from '../request-context.ts'
import { keptAdvertisements } from './advertisement-cache.ts'
import { answerFetch } from './answer-fetch.ts'
import type { FetchForm } from './fetch-form.ts'
import { fetchFormV0 } from './fetch-v0.ts'
import { fetchFormV2 } from './fetch-v2.ts'
import { bodyResponse, emptyResponse, requestBody, requireContentType, streamedResponse } from './git-request.ts'
import { answerName, isAskedByOthers, KeptAnswers } from './kept-answers.ts'
import { logCost } from './log-cost.ts'

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
  const mirror = context.mirror(identity, entry.rkey)
  const reader = new PktLineReader(requestBody(request))
  if (parseGitProtocol(request.headers.get('Git-Protocol')) === 2) {
    const command = await readV2Command(reader)
    if (command === null) return emptyResponse(RESULT_TYPE)
    if (command.command === 'fetch') {
      return answer(context, request, mirror, fetchFormV2(await readFetchRequest(reader, command)))
    }
    return answerCommand(mirror, reader, command)
  }
  const wanted = await readUploadRequest(reader)
  if (wanted.wants.length === 0) return emptyResponse(RESULT_TYPE)
  return answer(context, request, mirror, fetchFormV0(wanted))
}

/** Answers a request for a pack, with what the cache has of it if somebody has asked the same before. */
async function answer(context: RequestContext, request: Request, mirror: Mirror, fetch: FetchForm): Promise<Response> {
  const mayKeep = isAskedByOthers(fetch) && !saysNoStore(request)
  const manifest = mayKeep ? await mirror.presentManifest(fetch.namedRefs) : null
  const name = manifest && answerName(fetch, manifest)
  const waitUntil = (work: Promise<unknown>) => context.waitUntil(work)
  const pumped = (chunks: AsyncGenerator<Uint8Array>) =>
    bodyResponse(RESULT_TYPE, pumpChunks(logCost('fetched', mirror, chunks), waitUntil))
  if (name === null) return pumped(answerFetch(mirror, fetch))
  const { origin } = new URL(request.url)
  const answers = new KeptAnswers(caches.default, origin, waitUntil)
  const kept = await answers.find(name)
  if (kept !== null) {
    const { did, rkey } = mirror.address
    logRoutine('fetched', { did, rkey, isKept: true, ...mirror.cost })
    return bodyResponse(RESULT_TYPE, kept, { 'Cache-Status': 'skein; hit' })
  }
  const isSound = () => mirror.version === manifest?.version
  const keep = (chunks: AsyncGenerator<Uint8Array>) => answers.keep(name, chunks, isSound)
  return pumped(answerFetch(mirror, fetch, keep))
}

async function answerCommand(mirror: Mirror, reader: PktLineReader, command: V2Command): Promise<Response> {
  switch (command.command) {
    case 'ls-refs': {
      const wanted = await readLsRefsRequest(reader, command)
      return streamedResponse(RESULT_TYPE, logCost('listed', mirror, await listRefs(mirror, wanted)))
    }
    case 'object-info': {
      const wanted = await readObjectInfoRequest(reader, command)
      return streamedResponse(RESULT_TYPE, encodeObjectInfo(wanted, await readSizes(mirror, wanted.oids)))
    }
    default:
      throw new ProtocolError(`unknown command '${command.command}'`)
  }
}

async function listRefs(mirror: Mirror, wanted: LsRefsRequest): Promise<Generator<Uint8Array, void, undefined>> {
  const { prefixes } = wanted
  const manifest = await mirror.refsManifest(prefixes.length === 0 ? ALL_REFS : { names: [], prefixes })
  return keptAdvertisements.encode(manifest, JSON.stringify(wanted), () => {
    const { refs, defaultBranch } = manifest
    return encodeLsRefs(wanted, { head: resolveHead(refs, defaultBranch), refs })
  })
}

/** Sizes in bytes; null: the repository does not have the object. */
async function readSizes(mirror: Mirror, oids: readonly Oid[]): Promise<Map<Oid, number | null>> {
  const objects = new PackedObjects(await mirror.packs(await mirror.completeManifest(NO_REFS)))
  const sizes = new Map<Oid, number | null>()
  for (const oid of oids) sizes.set(oid, (await objects.stat(oid))?.size ?? null)
  return sizes
}

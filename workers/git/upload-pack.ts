import type { Oid } from '../../git/bytes/oid.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { readFetchRequest } from '../../git/protocol/fetch-request.ts'
import { encodeLsRefs, readLsRefsRequest } from '../../git/protocol/ls-refs.ts'
import { encodeObjectInfo, type ObjectInfoRequest, readObjectInfoRequest } from '../../git/protocol/object-info.ts'
import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { parseGitProtocol } from '../../git/protocol/protocol-version.ts'
import { readUploadRequest } from '../../git/protocol/upload-request.ts'
import { readV2Command } from '../../git/protocol/v2-command.ts'
import { Mirror } from '../mirror.ts'
import type { RequestContext } from '../request-context.ts'
import { answerFetch } from './answer-fetch.ts'
import { FetchV0 } from './fetch-v0.ts'
import { FetchV2 } from './fetch-v2.ts'
import { requestBody, requireContentType, streamedResponse } from './git-request.ts'

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
  const isV2 = parseGitProtocol(request.headers.get('Git-Protocol')) === 2
  return streamedResponse(RESULT_TYPE, await (isV2 ? answerV2(mirror, reader) : answerV0(mirror, reader)))
}

async function answerV0(mirror: Mirror, reader: PktLineReader): Promise<AsyncGenerator<Uint8Array>> {
  const request = await readUploadRequest(reader)
  return request.wants.length === 0 ? nothing() : answerFetch(mirror, new FetchV0(request))
}

async function answerV2(mirror: Mirror, reader: PktLineReader): Promise<AsyncGenerator<Uint8Array>> {
  const command = await readV2Command(reader)
  switch (command?.command) {
    case undefined:
      return nothing()
    case 'ls-refs': {
      const request = await readLsRefsRequest(reader, command!)
      const { refs, defaultBranch } = await mirror.refsManifest()
      return toAsync(encodeLsRefs(request, { head: resolveHead(refs, defaultBranch), refs }))
    }
    case 'fetch':
      return answerFetch(mirror, new FetchV2(await readFetchRequest(reader, command!)))
    case 'object-info': {
      const request = await readObjectInfoRequest(reader, command!)
      return toAsync(encodeObjectInfo(request, await readSizes(mirror, request)))
    }
    default:
      throw new ProtocolError(`unknown command '${command!.command}'`)
  }
}

async function readSizes(mirror: Mirror, { oids }: ObjectInfoRequest): Promise<Map<Oid, number | null>> {
  const objects = new PackedObjects(await mirror.packs(await mirror.completeManifest()))
  const sizes = new Map<Oid, number | null>()
  for (const oid of oids) sizes.set(oid, (await objects.stat(oid))?.size ?? null)
  return sizes
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // An answer without a body.
}

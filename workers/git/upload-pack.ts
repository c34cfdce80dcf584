import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { readFetchRequest } from '../../git/protocol/fetch-request.ts'
import { encodeLsRefs, readLsRefsRequest } from '../../git/protocol/ls-refs.ts'
import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { parseGitProtocol } from '../../git/protocol/protocol-version.ts'
import { unsupportedDeepen, unsupportedFetch } from '../../git/protocol/unsupported.ts'
import { readUploadRequest } from '../../git/protocol/upload-request.ts'
import { readV2Command } from '../../git/protocol/v2-command.ts'
import { Mirror } from '../mirror.ts'
import type { RequestContext } from '../request-context.ts'
import { answerFetch } from './answer-fetch.ts'
import { fetchFormV0, fetchFormV2 } from './fetch-forms.ts'
import { emptyResponse, requestBody, requireContentType, streamedResponse } from './git-request.ts'
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
  const mirror = new Mirror(context, identity, entry.rkey)
  const reader = new PktLineReader(requestBody(request))
  if (parseGitProtocol(request.headers.get('Git-Protocol')) === 2) return answerV2(mirror, reader)
  const wanted = await readUploadRequest(reader)
  const refusal = unsupportedDeepen(wanted.deepen)
  if (refusal !== null) throw new ProtocolError(refusal)
  if (wanted.wants.length === 0) return emptyResponse(RESULT_TYPE)
  return streamedResponse(RESULT_TYPE, logCost('fetched', mirror, answerFetch(mirror, fetchFormV0(wanted))))
}

async function answerV2(mirror: Mirror, reader: PktLineReader): Promise<Response> {
  const command = await readV2Command(reader)
  if (command === null) return emptyResponse(RESULT_TYPE)
  if (command.command === 'ls-refs') {
    const wanted = await readLsRefsRequest(reader, command)
    const manifest = await mirror.refsManifest()
    const head = resolveHead(manifest.refs, manifest.defaultBranch)
    return streamedResponse(RESULT_TYPE, encodeLsRefs(wanted, { head, refs: manifest.refs }))
  }
  if (command.command !== 'fetch') throw new ProtocolError(`unknown command '${command.command}'`)
  const wanted = await readFetchRequest(reader, command)
  const refusal = unsupportedFetch(wanted)
  if (refusal !== null) throw new ProtocolError(refusal)
  return streamedResponse(RESULT_TYPE, logCost('fetched', mirror, answerFetch(mirror, fetchFormV2(wanted))))
}

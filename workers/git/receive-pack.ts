import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { type ReceiveRequest, readReceiveRequest } from '../../git/protocol/receive-request.ts'
import { encodeReport, type ReportStatus, reportVersion } from '../../git/protocol/report-status.ts'
import { BAND_DATA, BAND_PROGRESS, sideBand, sideBandLimit } from '../../git/protocol/side-band.ts'
import { readCredentials } from '../auth/credentials.ts'
import { drain, readToEnd } from '../http/byte-stream.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import type { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'
import { emptyResponse, FLUSH_PACKET, requestBody, requireContentType, streamedResponse } from './git-request.ts'
import { withProgress } from './progress.ts'
import { Push } from './push.ts'
import { type PushTarget, requirePushTarget } from './push-target.ts'

const REQUEST_TYPE = 'application/x-git-receive-pack-request'
const RESULT_TYPE = 'application/x-git-receive-pack-result'

/** POST git-receive-pack. */
export async function receivePack(
  context: RequestContext,
  request: Request,
  actor: string,
  name: string,
): Promise<Response> {
  requireContentType(request, REQUEST_TYPE)
  // A client with much to send first asks with an empty request whether it may; some do so without credentials.
  if (readCredentials(request) === null && (await isProbe(request))) return emptyResponse(RESULT_TYPE)
  const target = await requirePushTarget(context, request, actor, name)
  const reader = new PktLineReader(requestBody(request))
  const received = await readReceiveRequest(reader)
  if (received.commands.length === 0) return emptyResponse(RESULT_TYPE)
  return streamedResponse(RESULT_TYPE, answerPush(context, target, received, reader))
}

async function* answerPush(
  context: RequestContext,
  target: PushTarget,
  received: ReceiveRequest,
  reader: PktLineReader,
): AsyncGenerator<Uint8Array> {
  const { capabilities } = received
  const limit = sideBandLimit(capabilities)
  const isTold = limit !== null && !capabilities.has('quiet')
  const work = withProgress((tell) => {
    const push = runPush(context, target, received, reader, tell)
    // Also when the pusher goes away meanwhile: what the account has by then belongs into the mirror.
    context.waitUntil(push)
    return push
  })
  let step = await work.next()
  for (; !step.done; step = await work.next()) if (isTold) yield sideBand(BAND_PROGRESS, step.value, limit)
  const version = reportVersion(capabilities)
  if (version !== null) {
    const report = encodeReport(step.value, version)
    yield limit === null ? report : sideBand(BAND_DATA, report, limit)
  }
  if (limit !== null) yield FLUSH_PACKET
}

/** A push always gets its report: whatever goes wrong is said for each ref. */
async function runPush(
  context: RequestContext,
  target: PushTarget,
  received: ReceiveRequest,
  reader: PktLineReader,
  tell: (line: string) => void,
): Promise<ReportStatus> {
  const pack = readToEnd(reader.rest())
  try {
    return await new Push(context, target, received, tell).run(pack)
  } catch (error) {
    const known = httpErrorFrom(error)
    const reason = known.status === 500 ? 'the server failed; nothing was written, push again' : inWords(known)
    const decoder = new TextDecoder()
    const commands = received.commands.map((command) => ({
      ok: false as const,
      name: decoder.decode(command.name),
      reason,
    }))
    return { unpackError: reason, commands }
  } finally {
    // Where the push was refused before its pack was looked at.
    await drain(pack)
  }
}

/** A report has no headers. */
function inWords({ message, headers }: HttpError): string {
  const seconds = headers['Retry-After']
  return seconds === undefined ? message : `${message} (try again in ${seconds} s)`
}

async function isProbe(request: Request): Promise<boolean> {
  if (request.headers.get('Content-Length') !== `${FLUSH_PACKET.length}`) return false
  return (await request.clone().text()) === '0000'
}

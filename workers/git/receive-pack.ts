import { log } from '../../durable-objects/log.ts'
import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { type ReceiveRequest, readReceiveRequest } from '../../git/protocol/receive-request.ts'
import { encodeReport, type ReportStatus, reportVersion } from '../../git/protocol/report-status.ts'
import { BAND_DATA, BAND_PROGRESS, sideBand, sideBandLimit } from '../../git/protocol/side-band.ts'
import { HttpError } from '../http/http-error.ts'
import { type RequestContext, upstreamError } from '../request-context.ts'
import { readCredentials } from './basic-auth.ts'
import { requestBody, requireContentType, streamedResponse } from './git-request.ts'
import { withProgress } from './progress.ts'
import { Push } from './push.ts'
import { type PushTarget, requirePushTarget } from './push-target.ts'

const REQUEST_TYPE = 'application/x-git-receive-pack-request'
const RESULT_TYPE = 'application/x-git-receive-pack-result'
const FLUSH_PACKET = '0000'

/** POST git-receive-pack. */
export async function receivePack(
  context: RequestContext,
  request: Request,
  actor: string,
  name: string,
): Promise<Response> {
  requireContentType(request, REQUEST_TYPE)
  // A client with much to send first asks with an empty request whether it may; some do so without credentials.
  if (readCredentials(request) === null && (await isProbe(request))) return emptyResult()
  const target = await requirePushTarget(context, request, actor, name)
  const reader = new PktLineReader(requestBody(request))
  const received = await readReceiveRequest(reader)
  if (received.commands.length === 0) return emptyResult()
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
  const work = withProgress((tell) => runPush(context, target, received, reader, tell))
  let step = await work.next()
  for (; !step.done; step = await work.next()) if (isTold) yield sideBand(BAND_PROGRESS, step.value, limit)
  const version = reportVersion(capabilities)
  if (version !== null) {
    const report = encodeReport(step.value, version)
    yield limit === null ? report : sideBand(BAND_DATA, report, limit)
  }
  if (limit !== null) yield new TextEncoder().encode(FLUSH_PACKET)
}

/** A push always gets its report: whatever goes wrong is said for each ref. */
async function runPush(
  context: RequestContext,
  target: PushTarget,
  received: ReceiveRequest,
  reader: PktLineReader,
  tell: (line: string) => void,
): Promise<ReportStatus> {
  try {
    return await new Push(context, target, received, tell).run(reader.rest())
  } catch (fault) {
    const error = upstreamError(fault)
    const reason = error instanceof HttpError ? inWords(error) : 'the server failed; nothing was written, push again'
    if (!(error instanceof HttpError)) log('push-failed', { reason: String(error), stack: (error as Error).stack })
    const decoder = new TextDecoder()
    const commands = received.commands.map((command) => ({
      ok: false as const,
      name: decoder.decode(command.name),
      reason,
    }))
    return { unpackError: reason, commands }
  }
}

/** A report has no headers. */
function inWords({ message, headers }: HttpError): string {
  const seconds = headers['Retry-After']
  return seconds === undefined ? message : `${message} (try again in ${seconds} s)`
}

async function isProbe(request: Request): Promise<boolean> {
  if (request.headers.get('Content-Length') !== `${FLUSH_PACKET.length}`) return false
  return (await request.clone().text()) === FLUSH_PACKET
}

function emptyResult(): Response {
  return new Response(null, { headers: { 'Content-Type': RESULT_TYPE, 'Cache-Control': 'no-cache' } })
}

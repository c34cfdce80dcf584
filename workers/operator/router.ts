import { type IRequestStrict, Router } from 'itty-router'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError } from '../http/http-error.ts'
import { readJson } from '../http/json-body.ts'
import { percentDecodeText } from '../http/percent.ts'
import type { RequestContext } from '../request-context.ts'
import { privateJson } from '../xrpc/json-answer.ts'
import { checkInput, readParams } from '../xrpc/params.ts'
import { authenticateOperator } from './authenticate-operator.ts'
import { block, unblock } from './block.ts'
import { listDeadLetters, replayDeadLetters } from './dead-letters.ts'
import { getStatus } from './get-status.ts'
import { listBlocks } from './list-blocks.ts'
import { listDroppedRecords } from './list-dropped-records.ts'
import { getReconcile, reconcile } from './reconcile.ts'

/** Answers a method's output, as its lexicon has it. What it is given has been checked by the lexicon. */
type Handler<P> = (context: RequestContext, given: P) => Promise<object>

interface Method {
  readonly httpMethod: 'GET' | 'POST'
  run(context: RequestContext, given: Record<string, unknown>): Promise<object>
}

function query<P>(handler: Handler<P>): Method {
  return { httpMethod: 'GET', run: (context, given) => handler(context, given as unknown as P) }
}

function procedure<P>(handler: Handler<P>): Method {
  return { httpMethod: 'POST', run: (context, given) => handler(context, given as unknown as P) }
}

const MAX_INPUT_BYTES = 1024 * 1024

const METHODS = new Map<string, Method>([
  ['dev.skein.operator.block', procedure(block)],
  ['dev.skein.operator.unblock', procedure(unblock)],
  ['dev.skein.operator.listBlocks', query(listBlocks)],
  ['dev.skein.operator.listDeadLetters', query(listDeadLetters)],
  ['dev.skein.operator.replayDeadLetters', procedure(replayDeadLetters)],
  ['dev.skein.operator.listDroppedRecords', query(listDroppedRecords)],
  ['dev.skein.operator.reconcile', procedure(reconcile)],
  ['dev.skein.operator.getReconcile', query(getReconcile)],
  ['dev.skein.operator.getStatus', query(getStatus)],
])

/** What only the operator may call, by XRPC. */
export const operatorRouter = Router<IRequestStrict, [context: RequestContext], Response>({
  catch: (error: unknown) => {
    const { status, code, message, headers } = httpErrorFrom(error)
    return privateJson({ error: code, message }, status, headers)
  },
})

operatorRouter.all('/xrpc/:nsid', async (request: IRequestStrict, context: RequestContext): Promise<Response> => {
  // First: to whoever is not the operator, it does not matter what there is.
  await authenticateOperator(context, request)
  const nsid = percentDecodeText(request.params.nsid!)
  const method = METHODS.get(nsid)
  if (method === undefined) {
    throw new HttpError(501, 'MethodNotImplemented', `there is no method ${JSON.stringify(nsid)} here`)
  }
  if (request.method !== method.httpMethod) {
    const message = `this method is called by ${method.httpMethod}, not ${request.method}`
    throw new HttpError(405, 'InvalidRequest', message, { Allow: method.httpMethod })
  }
  const given =
    method.httpMethod === 'GET'
      ? readParams(nsid, new URL(request.url).search)
      : checkInput(nsid, await readJson(request, MAX_INPUT_BYTES))
  return privateJson(await method.run(context, given))
})

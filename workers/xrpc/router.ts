import { type IRequestStrict, Router } from 'itty-router'
import { commit, MAX_COMMIT_INPUT_BYTES } from '../gateway/commit.ts'
import { createBranch } from '../gateway/create-branch.ts'
import { deleteBranch } from '../gateway/delete-branch.ts'
import { getLanding } from '../gateway/get-landing.ts'
import { merge } from '../gateway/merge.ts'
import { mergePreview } from '../gateway/merge-preview.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import { HttpError } from '../http/http-error.ts'
import { readJson } from '../http/json-body.ts'
import { percentDecodeText } from '../http/percent.ts'
import type { XrpcCall } from './call.ts'
import { createRepository } from './create-repository.ts'
import { createToken } from './create-token.ts'
import type { XrpcDeps } from './deps.ts'
import { getBlob } from './get-blob.ts'
import { getCommit } from './get-commit.ts'
import { getProfile } from './get-profile.ts'
import { getRepository } from './get-repository.ts'
import { getTree } from './get-tree.ts'
import { listCommits } from './list-commits.ts'
import { listIndexed } from './list-indexed.ts'
import { listRefs } from './list-refs.ts'
import { listRepositories } from './list-repositories.ts'
import { listTokens } from './list-tokens.ts'
import { checkInput, checkParams, readParams } from './params.ts'
import { revokeToken } from './revoke-token.ts'
import { search } from './search.ts'
import { timeline } from './timeline.ts'

interface Method {
  readonly kind: 'query' | 'procedure'
  /** The largest body that it takes, in bytes. */
  readonly maxInputBytes: number
  run(call: XrpcCall<Record<string, unknown>>): Promise<Response>
}

/** The lexicon of a method says which parameters it has; they have been checked by it when the handler runs. */
function query<P>(handler: (call: XrpcCall<P>) => Promise<Response>): Method {
  return { kind: 'query', maxInputBytes: 0, run: (call) => handler(call as unknown as XrpcCall<P>) }
}

function procedure<P>(handler: (call: XrpcCall<P>) => Promise<Response>, maxInputBytes = MAX_INPUT_BYTES): Method {
  return { kind: 'procedure', maxInputBytes, run: (call) => handler(call as unknown as XrpcCall<P>) }
}

/** For procedures that take no files: every record that one could make is much smaller. */
const MAX_INPUT_BYTES = 256 * 1024

const METHODS = new Map<string, Method>([
  ['dev.skein.repo.get', query(getRepository)],
  ['dev.skein.repo.list', query(listRepositories)],
  ['dev.skein.repo.search', query(search)],
  ['dev.skein.actor.getProfile', query(getProfile)],
  ['dev.skein.actor.listRepos', query(listIndexed)],
  ['dev.skein.feed.timeline', query(timeline)],
  ['dev.skein.repo.create', procedure(createRepository)],
  ['dev.skein.git.listRefs', query(listRefs)],
  ['dev.skein.git.getTree', query(getTree)],
  ['dev.skein.git.getBlob', query(getBlob)],
  ['dev.skein.git.getCommit', query(getCommit)],
  ['dev.skein.git.listCommits', query(listCommits)],
  ['dev.skein.gateway.commit', procedure(commit, MAX_COMMIT_INPUT_BYTES)],
  ['dev.skein.gateway.getLanding', query(getLanding)],
  ['dev.skein.gateway.createBranch', procedure(createBranch)],
  ['dev.skein.gateway.deleteBranch', procedure(deleteBranch)],
  ['dev.skein.gateway.mergePreview', query(mergePreview)],
  ['dev.skein.gateway.merge', procedure(merge)],
  ['dev.skein.token.create', procedure(createToken)],
  ['dev.skein.token.list', query(listTokens)],
  ['dev.skein.token.revoke', procedure(revokeToken)],
])

/**
 * Calls a method from inside the Worker, for another face of it.
 *
 * @param request whose caller it is
 * @param given parameters or input, as the lexicon has them; they are checked by it
 * @returns the JSON that the method answers
 * @throws {@link HttpError} and all that handlers throw
 */
export async function callMethod(
  nsid: string,
  given: Record<string, unknown>,
  { request, deps }: Pick<XrpcCall<unknown>, 'request' | 'deps'>,
): Promise<unknown> {
  const method = METHODS.get(nsid)!
  const params = method.kind === 'query' ? checkParams(nsid, given) : checkInput(nsid, given)
  const response = await method.run({ request, params, deps })
  return response.json()
}

/** Methods by XRPC. `fetch` answers null where the URL is no method's. */
export const xrpcRouter = Router<IRequestStrict, [deps: XrpcDeps], Response>({
  catch: (error: unknown) => xrpcError(httpErrorFrom(error)),
})

xrpcRouter.all('/xrpc/:nsid', async (request: IRequestStrict, deps: XrpcDeps): Promise<Response> => {
  const nsid = percentDecodeText(request.params.nsid!)
  const method = METHODS.get(nsid)
  if (method === undefined)
    throw new HttpError(
      501,
      'MethodNotImplemented',
      `there is no method ${JSON.stringify(nsid)} here; /llms.txt names those that there are`,
    )
  return method.kind === 'query' ? runQuery(nsid, method, request, deps) : runProcedure(nsid, method, request, deps)
})

async function runQuery(nsid: string, method: Method, request: Request, deps: XrpcDeps): Promise<Response> {
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: PREFLIGHT })
  requireMethod(request, 'GET', 'HEAD')
  const params = readParams(nsid, new URL(request.url).search)
  const response = await method.run({ request, params, deps })
  response.headers.set('Access-Control-Allow-Origin', '*')
  response.headers.set('Access-Control-Expose-Headers', '*')
  return request.method === 'HEAD' ? new Response(null, response) : response
}

async function runProcedure(nsid: string, method: Method, request: Request, deps: XrpcDeps): Promise<Response> {
  requireMethod(request, 'POST')
  const params = checkInput(nsid, await readJson(request, method.maxInputBytes))
  return method.run({ request, params, deps })
}

const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
}

function requireMethod(request: Request, ...methods: string[]): void {
  if (methods.includes(request.method)) return
  const message = `this method is called by ${methods[0]}, not ${request.method}`
  throw new HttpError(405, 'InvalidRequest', message, { Allow: methods.join(', ') })
}

function xrpcError({ status, code, message, headers, details }: HttpError): Response {
  return Response.json(
    { error: code, message, ...details },
    { status, headers: { ...headers, 'Access-Control-Allow-Origin': '*', 'X-Content-Type-Options': 'nosniff' } },
  )
}

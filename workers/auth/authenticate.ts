import type { Identity } from '../../atproto/identity/identity.ts'
import { readCollaboration } from '../../durable-objects/collaboration.ts'
import { mayPush, readEdgeDid } from '../../durable-objects/environment.ts'
import { NOT_WRITTEN } from '../../durable-objects/operator-words.ts'
import { type Token, TokenStore } from '../../storage/access/token-store.ts'
import { hashToken } from '../../storage/access/token-text.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'
import { countCall } from './call-limit.ts'
import { type Caller, collaboratorCaller, forbidden, ownerCaller, tokenCaller } from './caller.ts'
import { type Credentials, requireCredentials, unauthorized } from './credentials.ts'
import { edgeUrl } from './edge-did.ts'
import { checkPassword, resolveUser } from './password.ts'
import { verifyServiceJwt } from './service-jwt.ts'

/** A caller, and the account that it acts in. */
export interface Authenticated {
  readonly owner: Identity
  readonly caller: Caller
}

/**
 * Finds out who makes a request that is about an account: its owner (by an app password, or a service-auth JWT), a token
 * of the owner's, or a collaborator (by a JWT). What a caller may do is to be asked of the caller.
 *
 * @param owner the account that the request is about
 * @param nsid the XRPC method that is called: a JWT is good for that one; null: no method is, and no JWT is good
 * @throws {@link HttpError} 401 for no, wrong or ended credentials, 403 for those of somebody who has no part in the
 * account, and where the operator does not have the account written to, 429, 503
 */
export async function authenticateCaller(
  context: RequestContext,
  request: Request,
  owner: Identity,
  nsid: string | null,
): Promise<Caller> {
  const credentials = requireCredentials(request)
  requireWritten(context, owner)
  const host = edgeHost(context, request)
  switch (credentials.kind) {
    case 'password': {
      const user = await resolveUser(context, credentials.username)
      // Before the password is asked about: whoever pushes to a wrong address need not sign in for that.
      if (user.did !== owner.did) throw notYours(credentials.username, owner)
      await checkPassword(context, user, credentials.password)
      return ownerCaller(owner, host)
    }
    case 'token': {
      const token = await requireToken(context, credentials)
      if (token.did !== owner.did) throw notYours(`the token '${token.label}'`, owner)
      return tokenCaller(owner, token, host)
    }
    case 'jwt': {
      const issuer = await requireIssuer(context, request, nsid)
      if (issuer === owner.did) return ownerCaller(owner, host)
      const [collaborator, grant] = await Promise.all([
        resolveUser(context, issuer),
        readCollaboration(context.environment, owner, issuer),
      ])
      if (grant === null) throw notYours(collaborator.handle ?? issuer, owner)
      return collaboratorCaller(collaborator, grant, host)
    }
  }
}

/**
 * The same for a request that names no account: it is about the one whose credentials it carries.
 *
 * @throws {@link HttpError} 401, 429, 503
 */
export async function authenticateAccount(
  context: RequestContext,
  request: Request,
  nsid: string,
): Promise<Authenticated> {
  const credentials = requireCredentials(request)
  const host = edgeHost(context, request)
  switch (credentials.kind) {
    case 'password': {
      const owner = requireWritten(context, await resolveUser(context, credentials.username))
      await checkPassword(context, owner, credentials.password)
      return { owner, caller: ownerCaller(owner, host) }
    }
    case 'token': {
      const token = await requireToken(context, credentials)
      const owner = requireWritten(context, await resolveUser(context, token.did))
      return { owner, caller: tokenCaller(owner, token, host) }
    }
    case 'jwt': {
      const owner = requireWritten(context, await resolveUser(context, await requireIssuer(context, request, nsid)))
      return { owner, caller: ownerCaller(owner, host) }
    }
  }
}

/** Makes sure that the operator has an account written to through this edge. @throws {@link HttpError} 403 */
function requireWritten({ environment }: RequestContext, account: Identity): Identity {
  if (mayPush(environment, account.did)) return account
  throw new HttpError(403, 'NotServed', NOT_WRITTEN)
}

/** Makes sure that an account's owner asks, and not a program with a token. @throws {@link HttpError} 403 and as above */
export async function authenticateOwner(context: RequestContext, request: Request, nsid: string): Promise<Identity> {
  const { owner, caller } = await authenticateAccount(context, request, nsid)
  if (caller.kind !== 'owner') throw forbidden('only the owner may do this, by an app password or a service-auth JWT')
  // The account's object has refused a password; a JWT does not come to it.
  await context.requireAccountServed(owner)
  return owner
}

/** A token that is good now. @throws {@link HttpError} 401 `InvalidToken` or `ExpiredToken`, 429 */
async function requireToken(context: RequestContext, { text }: Credentials & { kind: 'token' }): Promise<Token> {
  // First: D1 is not asked for what is not answered.
  await countCall(context, `token ${hashToken(text)}`)
  const token = await new TokenStore(context.db).find(text)
  if (token === null) throw unauthorized('this token is not known here', 'InvalidToken')
  const { label, revokedAt, expiresAt } = token
  if (revokedAt !== null) throw unauthorized(`the token '${label}' was revoked on ${day(revokedAt)}`, 'InvalidToken')
  if (expiresAt <= Date.now()) throw unauthorized(`the token '${label}' expired on ${day(expiresAt)}`, 'ExpiredToken')
  return token
}

async function requireIssuer(context: RequestContext, request: Request, nsid: string | null): Promise<string> {
  if (nsid === null) throw unauthorized('a service-auth JWT is good for XRPC methods only: use a token', 'InvalidToken')
  return verifyServiceJwt(context, request, nsid)
}

function notYours(who: string, { did, handle }: Identity): HttpError {
  return new HttpError(403, 'NotYourAccount', `${who} may not write to the account of ${handle ?? did}`)
}

function day(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** The name of this edge, without a port. */
function edgeHost({ environment }: RequestContext, request: Request): string {
  const did = readEdgeDid(environment)
  return did === null ? new URL(request.url).hostname : edgeUrl(did).hostname
}

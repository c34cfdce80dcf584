import { type AccessTarget, EVERYTHING, type Grant, permits, type Right } from '../../atproto/access/grant.ts'
import type { Identity } from '../../atproto/identity/identity.ts'
import type { Token } from '../../storage/access/token-store.ts'
import { HttpError } from '../http/http-error.ts'
import { accountAuthor, tokenAuthor } from './default-author.ts'

/** Who makes a request, and what they may do in the account that it is about. */
export interface Caller {
  readonly kind: 'owner' | 'token' | 'collaborator'
  /** The account that acts: the owner's, also where a token acts for it, or the collaborator's own. */
  readonly did: string
  readonly handle: string | null
  /** The token that it came with, and what its owner calls it; null: it came without. */
  readonly tokenId: string | null
  readonly label: string | null
  /** Whom its commits name where it does not say. */
  readonly author: { readonly name: string; readonly email: string }
  may(right: Right, target: AccessTarget): boolean
}

/** @param host of the edge, for the author's address */
export function ownerCaller(owner: Identity, host: string): Caller {
  return accountCaller('owner', owner, EVERYTHING, host)
}

export function collaboratorCaller(collaborator: Identity, grant: Grant, host: string): Caller {
  return accountCaller('collaborator', collaborator, grant, host)
}

export function tokenCaller(owner: Identity, token: Token, host: string): Caller {
  const { did, handle } = owner
  return {
    kind: 'token',
    did,
    handle,
    tokenId: token.id,
    label: token.label,
    author: tokenAuthor(token, host),
    may: (right, target) => permits(token.grant, right, target),
  }
}

function accountCaller(kind: 'owner' | 'collaborator', account: Identity, grant: Grant, host: string): Caller {
  const { did, handle } = account
  return {
    kind,
    did,
    handle,
    tokenId: null,
    label: null,
    author: accountAuthor(account, host),
    may: (right, target) => permits(grant, right, target),
  }
}

/** @throws {@link HttpError} 403 where the caller may not do this */
export function requireRight(caller: Caller, right: Right, target: AccessTarget): void {
  if (!caller.may(right, target)) throw forbidden(refusalOf(caller, right, target))
}

export function forbidden(message: string): HttpError {
  return new HttpError(403, 'Forbidden', message)
}

/** Why a caller may not do something, in words. */
export function refusalOf(caller: Caller, right: Right, { rkey, ref }: AccessTarget): string {
  if (rkey === null && ref === null) return `${nameOf(caller)} may not create repositories`
  const what = { read: 'read', commit: 'commit to', branch: 'create, delete or rewrite', merge: 'merge into' }[right]
  return `${nameOf(caller)} may not ${what} ${ref?.replace(/^refs\/heads\//, '') ?? 'branches of this repository'}`
}

function nameOf({ label, handle, did }: Caller): string {
  return label === null ? (handle ?? did) : `the token '${label}'`
}

import { RIGHTS, type Right } from '../../atproto/access/grant.ts'
import { tids } from '../../durable-objects/tids.ts'
import { isBranchPattern } from '../../git/refs/branch-pattern.ts'
import { MAX_TOKENS, type Token } from '../../storage/access/token-store.ts'
import { createTokenText } from '../../storage/access/token-text.ts'
import { HttpError, invalidRequest } from '../http/http-error.ts'
import type { XrpcCall } from './call.ts'
import type { Account, XrpcDeps } from './deps.ts'
import { privateJson } from './json-answer.ts'
import { parseRepositoryParam } from './repository-param.ts'
import { tokenJson } from './token-json.ts'

interface CreateTokenInput {
  readonly label: string
  readonly repositories?: readonly string[]
  readonly branches?: readonly string[]
  readonly rights: readonly Right[]
  readonly expiresInDays: number
}

const DAY = 24 * 60 * 60_000

/** `dev.skein.token.create` */
export async function createToken({ request, params, deps }: XrpcCall<CreateTokenInput>): Promise<Response> {
  const owner = await deps.requireOwner(request, 'dev.skein.token.create')
  const now = Date.now()
  const token: Token = {
    id: tids.next(),
    did: owner.did,
    label: requireLabel(params.label),
    grant: {
      repositories: params.repositories === undefined ? null : await findAll(deps, owner, params.repositories),
      branches: params.branches === undefined ? null : params.branches.map(requirePattern),
      rights: RIGHTS.filter((right) => params.rights.includes(right)),
    },
    createdAt: now,
    expiresAt: now + params.expiresInDays * DAY,
    revokedAt: null,
  }
  const text = createTokenText()
  if (!(await deps.tokens.create(token, text))) {
    throw new HttpError(409, 'TooManyTokens', `the account has ${MAX_TOKENS} tokens that are good: revoke some first`)
  }
  const { id, ...rest } = tokenJson(token)
  return privateJson({ id, token: text, ...rest })
}

/** Labels become the names of authors, which hold neither brackets nor line breaks, and are not mere punctuation. */
function requireLabel(text: string): string {
  const label = text.trim()
  if (/[<>\p{Cc}\p{Cs}\u2028\u2029]/u.test(label) || !/[\p{L}\p{N}]/u.test(label)) {
    throw invalidRequest('label must hold a letter or a digit, and neither < nor > nor control characters')
  }
  return label
}

function requirePattern(pattern: string): string {
  if (isBranchPattern(pattern)) return pattern
  throw invalidRequest(
    `branches: ${JSON.stringify(pattern)} is no pattern of branch names; give short names, as main or agents/*`,
  )
}

/** Record keys of the account's repositories. @throws {@link HttpError} 404 where there is none of that name */
async function findAll(deps: XrpcDeps, owner: Account, names: readonly string[]): Promise<string[]> {
  const rkeys = new Set<string>()
  for (const name of names) {
    const reference = name.includes('/') ? parseRepositoryParam(name) : { actor: owner.did, name }
    const found = await deps.find(reference)
    if (found?.account.did !== owner.did) {
      throw new HttpError(404, 'RepositoryNotFound', `repositories: the account has no ${JSON.stringify(name)}`)
    }
    rkeys.add(found.rkey)
  }
  return [...rkeys]
}

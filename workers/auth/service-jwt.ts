import { ServiceJwtVerifier, type ServiceJwtVerifierOptions } from '@atcute/xrpc-server/auth'
import { IdentityUnavailableError } from '../../atproto/identity/identity.ts'
import { readEdgeDid } from '../../durable-objects/environment.ts'
import { UsedJwts } from '../../storage/access/used-jwts.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'
import { countCall } from './call-limit.ts'
import { unauthorized } from './credentials.ts'
import { EDGE_SERVICE } from './edge-did.ts'
import { signingKeyOf } from './signing-keys.ts'

/** A JWT may be good for so long at most, in seconds. */
const MAX_AGE = 300
/** How far clocks may be apart, in seconds. */
const LEEWAY = 5

type Audience = NonNullable<ServiceJwtVerifierOptions['acceptAudiences']>[number]
type DidDocument = Awaited<ReturnType<ServiceJwtVerifierOptions['resolver']['resolve']>>

/**
 * Checks the service-auth JWT of a request: that it is meant for this edge and this method, is not out of date, was not
 * used before, and is signed by the account that it names. https://atproto.com/specs/xrpc#inter-service-authentication-jwt
 *
 * @param nsid the method that is called
 * @returns the DID of the account
 * @throws {@link HttpError} 401 `ExpiredToken` or `InvalidToken`; 429; 503 where its DID document cannot be read now
 */
export async function verifyServiceJwt(context: RequestContext, request: Request, nsid: string): Promise<string> {
  const edge = readEdgeDid(context.environment) as Audience | null
  if (edge === null) throw unauthorized('this edge takes no service-auth JWTs: it has no DID', 'InvalidToken')
  const used = new UsedJwts(context.db)
  const unavailable: IdentityUnavailableError[] = []
  const verifier = new ServiceJwtVerifier({
    acceptAudiences: [edge, `${edge}${EDGE_SERVICE}` as Audience],
    maxAge: MAX_AGE,
    clockLeeway: LEEWAY,
    resolver: {
      async resolve(did, options) {
        try {
          return await signingDocument(context, did, options?.noCache ?? false)
        } catch (error) {
          // The verifier makes one error of all reasons.
          if (error instanceof IdentityUnavailableError) unavailable.push(error)
          throw error
        }
      },
    },
    replayStore: {
      async check({ iss, jti }, seconds) {
        // It is theirs by now; and no account can have rows written without end.
        await countCall(context, `account ${iss}`)
        const now = Date.now()
        return used.use(iss, jti, now, now + (seconds + 2 * LEEWAY) * 1000)
      },
    },
  })
  try {
    const { issuer } = await verifier.verifyRequest(request, { lxm: nsid as `${string}.${string}.${string}` })
    return issuer
  } catch (error) {
    const [reason] = unavailable
    if (reason !== undefined) throw new HttpError(503, 'UpstreamUnavailable', reason.message, { 'Retry-After': '10' })
    if (!isRefusal(error)) throw error
    const isExpired = error.headers?.get('WWW-Authenticate')?.includes('"JwtExpired"')
    throw unauthorized(error.message, isExpired ? 'ExpiredToken' : 'InvalidToken')
  }
}

/** As much of a DID document as the verifier reads: hosts of strangers write them. */
async function signingDocument(context: RequestContext, did: string, isRefused: boolean): Promise<DidDocument> {
  const key = await signingKeyOf(context, did, isRefused)
  const verificationMethod = key === null ? [] : [{ id: `${did}#atproto`, controller: did, ...key }]
  return { '@context': ['https://www.w3.org/ns/did/v1'], id: did, verificationMethod } as DidDocument
}

/** The verifier's `AuthRequiredError`. */
function isRefusal(error: unknown): error is Error & { readonly headers?: Headers } {
  return error instanceof Error && (error as { status?: unknown }).status === 401
}

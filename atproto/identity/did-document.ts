import { isObject } from '../network/json.ts'
import { normalizeHandle } from './syntax.ts'

/** What Skein reads from a DID document. https://atproto.com/specs/did */
export interface AccountDocument {
  readonly did: string
  /** The first valid one that it claims: not yet checked in the other direction. */
  readonly claimedHandle: string | null
  /** Origin of the PDS, or null: the account has none (any more). */
  readonly pds: string | null
  /** What its signatures are checked by, or null: it names none. */
  readonly signingKey: SigningKey | null
}

/** A public key as DID documents write it. */
export interface SigningKey {
  /** Of the verification method: `Multikey`, or an older one. */
  readonly type: string
  readonly publicKeyMultibase: string
}

/** Null if it is no document of this DID. */
export function parseDidDocument(did: string, json: unknown): AccountDocument | null {
  if (!isObject(json) || json.id !== did) return null
  return {
    did,
    claimedHandle: findHandle(json.alsoKnownAs),
    pds: findPds(did, json.service),
    signingKey: findSigningKey(did, json.verificationMethod),
  }
}

function findHandle(alsoKnownAs: unknown): string | null {
  if (!Array.isArray(alsoKnownAs)) return null
  const name = alsoKnownAs.find((alias): alias is string => typeof alias === 'string' && alias.startsWith('at://'))
  return name === undefined ? null : normalizeHandle(name.slice('at://'.length))
}

function findPds(did: string, services: unknown): string | null {
  if (!Array.isArray(services)) return null
  const service: unknown = services.find(
    (entry: unknown) => isObject(entry) && (entry.id === '#atproto_pds' || entry.id === `${did}#atproto_pds`),
  )
  if (!isObject(service) || service.type !== 'AtprotoPersonalDataServer') return null
  if (typeof service.serviceEndpoint !== 'string') return null
  return originOf(service.serviceEndpoint)
}

function findSigningKey(did: string, methods: unknown): SigningKey | null {
  if (!Array.isArray(methods)) return null
  const method: unknown = methods.find(
    (entry: unknown) => isObject(entry) && (entry.id === '#atproto' || entry.id === `${did}#atproto`),
  )
  if (!isObject(method)) return null
  const { type, publicKeyMultibase } = method
  if (typeof type !== 'string' || typeof publicKeyMultibase !== 'string') return null
  return { type, publicKeyMultibase }
}

/** The endpoint has to be an origin, without path or credentials. Whether it may be asked is for the fetch to say. */
function originOf(endpoint: string): string | null {
  const url = URL.parse(endpoint)
  if (!url || !['https:', 'http:'].includes(url.protocol)) return null
  return url.href === `${url.origin}/` ? url.origin : null
}

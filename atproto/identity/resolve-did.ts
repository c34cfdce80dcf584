import type { GuardedFetch } from '../network/guarded-fetch.ts'
import { parseJson } from '../network/json.ts'
import { type AccountDocument, parseDidDocument } from './did-document.ts'
import { IdentityNotFoundError, IdentityUnavailableError, InvalidActorError } from './identity.ts'
import { readText } from './read-text.ts'
import { isSupportedDid } from './syntax.ts'

export interface DidOptions {
  readonly fetch: GuardedFetch
  /** Origin of the PLC directory. */
  readonly plcUrl: string
  /** Plain http for a did:web with a port, which only local hosts have. */
  readonly allowPrivateHosts: boolean
}

/** DID documents are small: keys, a name, a service. */
const MAX_DOCUMENT_BYTES = 64 * 1024

/**
 * @throws {@link InvalidActorError}, {@link IdentityNotFoundError} also for a DID that was given up (a tombstone),
 * {@link IdentityUnavailableError}
 */
export async function resolveDid(did: string, options: DidOptions): Promise<AccountDocument> {
  if (!isSupportedDid(did)) throw new InvalidActorError(did, 'is no DID of a method that is supported (plc, web)')
  const url = documentUrl(did, options)
  const answer = await readText(options.fetch, url, did, MAX_DOCUMENT_BYTES)
  if (answer.status === 404 || answer.status === 410)
    throw new IdentityNotFoundError(did, `${url.host} does not know it`)
  if (answer.status !== 200) throw new IdentityUnavailableError(did, url.host, `answered ${answer.status}`)
  const document = parseDidDocument(did, parseJson(answer.text))
  if (!document) throw new IdentityUnavailableError(did, url.host, 'sent no DID document of it')
  return document
}

function documentUrl(did: string, { plcUrl, allowPrivateHosts }: DidOptions): URL {
  if (did.startsWith('did:plc:')) return new URL(`/${did}`, plcUrl)
  const host = decodeURIComponent(did.slice('did:web:'.length))
  const scheme = allowPrivateHosts && host.includes(':') ? 'http' : 'https'
  const url = URL.parse(`${scheme}://${host}/.well-known/did.json`)
  if (!url || url.host !== host.toLowerCase()) throw new InvalidActorError(did, 'names no host')
  return url
}

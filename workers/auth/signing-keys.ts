import type { SigningKey } from '../../atproto/identity/did-document.ts'
import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { RequestContext } from '../request-context.ts'

/** For how long a key is gone by after it was read, in milliseconds: so long does one that was replaced go on. */
const KEPT_FOR = 60_000
/** One that was read so short a time ago is not read again, whatever it is asked for. Milliseconds. */
const READ_AGAIN_AFTER = 5_000
const MAX_KEYS = 1_000

interface KeptKey {
  readonly key: SigningKey | null
  /** Milliseconds since 1970. */
  readonly readAt: number
}

const kept = new LruCache<string, KeptKey>(MAX_KEYS, () => 1)

/**
 * The key that an account signs with; null: its DID document names none.
 *
 * @param isRefused the last one did not fit: the account may have another by now
 * @throws as `IdentityResolver.readSigningKey`
 */
export async function signingKeyOf(
  context: RequestContext,
  did: string,
  isRefused: boolean,
): Promise<SigningKey | null> {
  const now = Date.now()
  const known = kept.get(did)
  if (known !== undefined && now - known.readAt < (isRefused ? READ_AGAIN_AFTER : KEPT_FOR)) return known.key
  const key = await context.readSigningKey(did)
  kept.set(did, { key, readAt: now })
  return key
}

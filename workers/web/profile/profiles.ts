import type { PdsClient } from '../../../atproto/pds/pds-client.ts'
import { blobCid } from '../../../atproto/records/blob-cid.ts'
import { log } from '../../../durable-objects/log.ts'
import { pictureType } from './picture-type.ts'
import { type AccountProfile, NO_PROFILE, readProfile } from './read-profile.ts'

/** A picture that an account has. */
export interface Picture {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** What accounts say of themselves. */
export interface Profiles {
  /** What is known by now: an account that does not answer in time has none for this reader. */
  of(account: Account): Promise<AccountProfile>
  /** Null: the account's profile names no such picture, or it is not to be had, too large, or none. */
  avatar(account: Account, cid: string): Promise<Picture | null>
}

interface Account {
  readonly did: string
  /** Origin of its PDS. */
  readonly pds: string
}

/** So long a reader waits for an account, in milliseconds, and so large a picture may be, in bytes. */
const PROFILE_PATIENCE = 1_000
const PICTURE_PATIENCE = 2_000
const MAX_PICTURE = 1024 * 1024
/** Seconds: a profile is then read again, after the answer; and it is forgotten. */
const FRESH_FOR = 60 * 60
const KEPT_FOR = 7 * 24 * 60 * 60

interface Kept {
  readonly profile: AccountProfile
  /** Milliseconds since 1970. */
  readonly readAt: number
}

export interface ProfilesDeps {
  /** Of the data centre. */
  readonly cache: Pick<Cache, 'match' | 'put'>
  /** Of the edge: the cache belongs to a host name. */
  readonly origin: string
  client(pds: string): Pick<PdsClient, 'getRecord' | 'getBlob'>
  waitUntil(work: Promise<unknown>): void
}

/** Read from the accounts, and kept by the data centre's cache. */
export class CachedProfiles implements Profiles {
  readonly #deps: ProfilesDeps

  constructor(deps: ProfilesDeps) {
    this.#deps = deps
  }

  async of(account: Account): Promise<AccountProfile> {
    const kept = await this.#find(account.did)
    if (kept !== null && Date.now() - kept.readAt < FRESH_FOR * 1000) return kept.profile
    const reading = this.#read(account)
    this.#deps.waitUntil(reading)
    if (kept !== null) return kept.profile
    return (await inTime(reading, PROFILE_PATIENCE)) ?? NO_PROFILE
  }

  async avatar(account: Account, cid: string): Promise<Picture | null> {
    if ((await this.of(account)).avatar !== cid) return null
    try {
      return await inTime(this.#readPicture(account, cid), PICTURE_PATIENCE)
    } catch (error) {
      log('profile-not-read', { did: account.did, reason: String(error) })
      return null
    }
  }

  async #find(did: string): Promise<Kept | null> {
    const kept = await this.#deps.cache.match(this.#url(did))
    return kept === undefined ? null : kept.json<Kept>()
  }

  /** Null: it cannot be read now. */
  async #read({ did, pds }: Account): Promise<AccountProfile | null> {
    try {
      const profile = await readProfile(this.#deps.client(pds), did)
      const kept: Kept = { profile, readAt: Date.now() }
      const headers = { 'Cache-Control': `max-age=${KEPT_FOR}` }
      await this.#deps.cache.put(this.#url(did), Response.json(kept, { headers }))
      return profile
    } catch (error) {
      log('profile-not-read', { did, reason: String(error) })
      return null
    }
  }

  async #readPicture({ did, pds }: Account, cid: string): Promise<Picture | null> {
    const stream = await this.#deps.client(pds).getBlob(did, cid, MAX_PICTURE)
    if (stream === null) return null
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
    const type = pictureType(bytes)
    if (type === null) return null
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    return blobCid(digest) === cid ? { type, bytes } : null
  }

  #url(did: string): string {
    return `${this.#deps.origin}/.profiles/${did}`
  }
}

/** Null: it takes longer. */
async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

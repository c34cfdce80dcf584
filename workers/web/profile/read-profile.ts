import { isObject } from '../../../atproto/network/json.ts'
import type { PdsClient } from '../../../atproto/pds/pds-client.ts'

/** Who somebody says to be. All of it is a stranger's text. */
export interface AccountProfile {
  /** Empty: none is given. */
  readonly displayName: string
  readonly description: string
  /** CID of a picture that the account has as a blob; null: there is none. */
  readonly avatar: string | null
}

export const NO_PROFILE: AccountProfile = { displayName: '', description: '', avatar: null }

/** Where most accounts have theirs. https://docs.bsky.app/docs/advanced-guides/posts */
const COLLECTION = 'app.bsky.actor.profile'
const RECORD_KEY = 'self'
/** Longer texts are cut, in UTF-16 units: the lexicon allows 640 and 2,560 bytes. */
const MAX_NAME = 120
const MAX_DESCRIPTION = 1_000

/** The profile of an account, from the account. @throws {@link PdsError}, {@link PdsUnreachableError} */
export async function readProfile(client: Pick<PdsClient, 'getRecord'>, did: string): Promise<AccountProfile> {
  const record = await client.getRecord(did, COLLECTION, RECORD_KEY)
  return record === null ? NO_PROFILE : profileOf(record.value)
}

/** @param value of a record that anybody may have written by hand */
export function profileOf(value: unknown): AccountProfile {
  if (!isObject(value)) return NO_PROFILE
  return {
    displayName: textOf(value.displayName, MAX_NAME).replace(/\s+/g, ' '),
    description: textOf(value.description, MAX_DESCRIPTION),
    avatar: avatarOf(value.avatar),
  }
}

function textOf(value: unknown, limit: number): string {
  return typeof value === 'string' ? value.slice(0, limit).toWellFormed().trim() : ''
}

/** CIDs of blobs, and nothing that would be another path. */
const BLOB_CID = /^bafkrei[a-z2-7]{52}$/

function avatarOf(value: unknown): string | null {
  const link = isObject(value) && isObject(value.ref) ? value.ref.$link : null
  return typeof link === 'string' && BLOB_CID.test(link) ? link : null
}

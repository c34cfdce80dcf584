import type { Grant } from '../atproto/access/grant.ts'
import { decodeCollaboratorRecord } from '../atproto/records/collaborator-record.ts'
import { COLLABORATOR_COLLECTION } from '../atproto/records/collections.ts'
import { InvalidRecordError } from '../atproto/records/record-error.ts'
import type { AccountAddress } from './account-writer/answers.ts'
import type { Environment } from './environment.ts'
import { log } from './log.ts'
import { createPdsClient } from './pds-clients.ts'

/** A DID that can be a record key: all of did:plc, and did:web without a port. */
const RECORD_KEY = /^[A-Za-z0-9.:_~-]{1,512}$/

/**
 * What the owner of an account lets another account do; null: nothing. The record is read from the owner's PDS each
 * time, which is one request, so that what the owner takes back is gone with the next call.
 *
 * @throws faults of the PDS
 */
export async function readCollaboration(
  environment: Environment,
  owner: AccountAddress,
  did: string,
): Promise<Grant | null> {
  if (!RECORD_KEY.test(did)) return null
  const record = await createPdsClient(environment, owner.pds).getRecord(owner.did, COLLABORATOR_COLLECTION, did)
  if (record === null) return null
  try {
    return decodeCollaboratorRecord(did, record.value)
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error
    log('record-skipped', { uri: record.uri, reason: error.message })
    return null
  }
}

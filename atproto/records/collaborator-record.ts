import { isBranchPattern } from '../../git/refs/branch-pattern.ts'
import { type Grant, isRight, RIGHTS } from '../access/grant.ts'
import { COLLABORATOR_COLLECTION } from './collections.ts'
import { checkRecord } from './lexicon.ts'
import { InvalidRecordError } from './record-error.ts'

interface CollaboratorRecord {
  readonly subject: string
  readonly repositories?: readonly string[]
  readonly branches?: readonly string[]
  readonly rights?: readonly string[]
}

/**
 * What a `dev.skein.collaborator` record grants to the account that its key names. A record with a pattern that is none
 * grants nothing: what its writer meant is not known.
 *
 * @throws {@link InvalidRecordError} also where the record is about another account
 */
export function decodeCollaboratorRecord(rkey: string, json: unknown): Grant {
  const record = checkRecord(COLLABORATOR_COLLECTION, json) as unknown as CollaboratorRecord
  const { subject, repositories, branches, rights } = record
  if (subject !== rkey) throw new InvalidRecordError(`the record of ${rkey} is about ${JSON.stringify(subject)}`)
  const broken = branches?.find((pattern) => !isBranchPattern(pattern))
  if (broken !== undefined) throw new InvalidRecordError(`${JSON.stringify(broken)} is no pattern for branches`)
  return {
    repositories: repositories ?? null,
    branches: branches ?? null,
    rights: rights?.filter(isRight) ?? RIGHTS,
  }
}

import { REPO_COLLECTION } from './collections.ts'
import { checkRecord } from './lexicon.ts'
import { InvalidRecordError } from './record-error.ts'
import type { RepoRecord } from './record-types.ts'

const NAME_PATTERN = /^[A-Za-z0-9._-]{1,100}$/

/** Whether a repository may have this name: it must be one segment of a URL, and `.git` is what git clients append. */
export function isRepositoryName(name: string): boolean {
  return NAME_PATTERN.test(name) && name !== '.' && name !== '..' && !name.toLowerCase().endsWith('.git')
}

/** @throws {@link InvalidRecordError} */
export function decodeRepoRecord(json: unknown): RepoRecord {
  const record = checkRecord(REPO_COLLECTION, json) as unknown as RepoRecord
  const { name, description, website, topics, defaultBranch, objectFormat, forkOf, createdAt } = record
  if (!isRepositoryName(name)) throw new InvalidRecordError(`${JSON.stringify(name)} is no name for a repository`)
  if (objectFormat !== 'sha1') throw new InvalidRecordError(`object format ${objectFormat} is not supported`)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(website === undefined ? {} : { website }),
    ...(topics === undefined ? {} : { topics }),
    defaultBranch,
    objectFormat,
    ...(forkOf === undefined ? {} : { forkOf }),
    createdAt,
  }
}

/** The JSON to store. */
export function encodeRepoRecord(record: RepoRecord): Record<string, unknown> {
  return { $type: REPO_COLLECTION, ...record }
}

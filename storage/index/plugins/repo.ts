import { REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { InvalidRecordError } from '../../../atproto/records/record-error.ts'
import { decodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import { isTid } from '../../../atproto/records/tid.ts'
import { repositoryRow } from '../../directory/repository-row.ts'
import { repositories } from '../../directory/tables.ts'
import { definePlugin } from './plugin.ts'

/** Repositories: the rows that the directory finds them by, too. */
export const repoPlugin = definePlugin({
  collection: REPO_COLLECTION,
  table: repositories,
  columns: ['name', 'words', 'record'],
  decode({ rkey, value }) {
    // Nothing could be in it: keys of packs and refs start with it.
    if (!isTid(rkey)) throw new InvalidRecordError('the record key is no TID')
    return repositoryRow(decodeRepoRecord(value))
  },
})

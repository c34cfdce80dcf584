import { isValidNsid, isValidRecordKey } from '@atproto/syntax'

/** All collections of Skein, and no other. */
const WANTED_PREFIX = 'dev.skein.'

export function isWantedCollection(collection: string): boolean {
  return collection.startsWith(WANTED_PREFIX)
}

/** Whether the path of a record, `<collection>/<record key>`, is of a collection that is wanted. */
export function isWantedPath(path: string): boolean {
  return path.startsWith(WANTED_PREFIX)
}

export interface RecordPath {
  readonly collection: string
  readonly rkey: string
}

/** Null: there can be no such record. */
export function parseRecordPath(path: string): RecordPath | null {
  const slash = path.indexOf('/')
  return slash < 0 ? null : checkRecordPath(path.slice(0, slash), path.slice(slash + 1))
}

/** The same of its two parts. */
export function checkRecordPath(collection: unknown, rkey: unknown): RecordPath | null {
  if (typeof collection !== 'string' || typeof rkey !== 'string') return null
  return isValidNsid(collection) && isValidRecordKey(rkey) ? { collection, rkey } : null
}

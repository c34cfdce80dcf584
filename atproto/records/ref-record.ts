import { isOid } from '../../git/bytes/oid.ts'
import { REF_COLLECTION, REFS_COLLECTION } from './collections.ts'
import { checkRecord } from './lexicon.ts'
import { InvalidRecordError } from './record-error.ts'
import { nameHash, parsePackKey, parseRefKey, parseRefsKey } from './record-keys.ts'
import type { RefEntry, RefRecord, RefsRecord } from './record-types.ts'

/** @throws {@link InvalidRecordError} also where the record is not what its key says */
export function decodeRefRecord(rkey: string, json: unknown): RefRecord {
  const key = parseRefKey(rkey)
  if (!key) throw new InvalidRecordError('the record key is not <repo>:<hash>:<seq>')
  const record = checkRecord(REF_COLLECTION, json) as unknown as RefRecord
  const entry = checkEntry(record, key.repo)
  if (nameHash(entry.name) !== key.hash) throw new InvalidRecordError('the record key has the hash of another name')
  if (entry.seq !== key.seq) throw new InvalidRecordError(`seq is ${entry.seq}, but ${key.seq} in the record key`)
  return { ...entry, ...(record.landing === undefined ? {} : { landing: record.landing }) }
}

/**
 * Entries that are not valid beyond what the lexicon can say are left out and told to `skip`: one of them does not hide
 * the others.
 *
 * @throws {@link InvalidRecordError}
 */
export function decodeRefsRecord(rkey: string, json: unknown, skip: (reason: string) => void): RefsRecord {
  const key = parseRefsKey(rkey)
  if (!key) throw new InvalidRecordError('the record key is not <repo>:<shard>:<seq>')
  const record = checkRecord(REFS_COLLECTION, json) as unknown as RefsRecord
  const entries: RefEntry[] = []
  for (const entry of record.entries) {
    try {
      entries.push(checkEntry(entry, key.repo))
    } catch (cause) {
      if (!(cause instanceof InvalidRecordError)) throw cause
      skip(cause.message)
    }
  }
  return { entries, ...(record.landing === undefined ? {} : { landing: record.landing }) }
}

function checkEntry(
  entry: { name: string; target?: string | null; peeled?: string; seq: number; pack?: string },
  repo: string,
): RefEntry {
  const { name, target, peeled, seq, pack } = entry
  const fault = (reason: string) => new InvalidRecordError(`${JSON.stringify(name)}: ${reason}`)
  if (!isRecordableRefName(name)) throw fault('is no name of a ref')
  if (target != null && !isOid(target)) throw fault('target is not 40 lower-case hex digits')
  if (peeled !== undefined && !isOid(peeled)) throw fault('peeled is not 40 lower-case hex digits')
  if (pack !== undefined && parsePackKey(pack)?.repo !== repo) throw fault('pack is no pack of the repository')
  return {
    name,
    target: target ?? null,
    ...(peeled === undefined ? {} : { peeled }),
    seq,
    ...(pack === undefined ? {} : { pack }),
  }
}

/**
 * The part of git's rules on ref names (git-check-ref-format) that a reader relies on: inside `refs/`, no control
 * characters or spaces, nothing that could leave a directory. Writers check the names they take in full.
 */
function isRecordableRefName(name: string): boolean {
  if (!name.startsWith('refs/') || /[\0-\x20\x7f~^:?*[\\]/.test(name) || name.includes('..') || name.includes('@{')) {
    return false
  }
  return (
    name.isWellFormed() &&
    name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  )
}

/** The JSON to store. */
export function encodeRefRecord(record: RefRecord): Record<string, unknown> {
  const { landing, ...entry } = record
  return { $type: REF_COLLECTION, ...encodeEntry(entry), ...(landing === undefined ? {} : { landing }) }
}

/** The JSON to store. */
export function encodeRefsRecord(record: RefsRecord): Record<string, unknown> {
  return { $type: REFS_COLLECTION, ...record, entries: record.entries.map(encodeEntry) }
}

function encodeEntry({ target, ...rest }: RefEntry): Record<string, unknown> {
  return { ...rest, ...(target === null ? {} : { target }) }
}

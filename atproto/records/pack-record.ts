import type { BlobRef as LexiconBlob } from '@atproto/lexicon'
import { isOid } from '../../git/bytes/oid.ts'
import { isBlobCid } from './blob-cid.ts'
import { INLINE_PACK_LIMIT, PACK_COLLECTION } from './collections.ts'
import { checkRecord } from './lexicon.ts'
import { InvalidRecordError } from './record-error.ts'
import type { BlobRef, PackRecord } from './record-types.ts'

/** @throws {@link InvalidRecordError} */
export function decodePackRecord(json: unknown): PackRecord {
  const record = checkRecord(PACK_COLLECTION, json)
  const rest = decodeRest(record)
  return { ...decodeContent(record, rest.size), ...rest }
}

/** The same of a record whose `bytes` were taken out and are elsewhere. @throws {@link InvalidRecordError} */
export function decodeParkedPackRecord(json: unknown): PackRecord {
  const record = checkRecord(PACK_COLLECTION, json)
  if (record.parts !== undefined) throw new InvalidRecordError('must have one of bytes and parts')
  const rest = decodeRest(record)
  if (rest.size > INLINE_PACK_LIMIT) throw new InvalidRecordError(`size is ${rest.size}, which bytes cannot hold`)
  return rest
}

function decodeRest(record: Record<string, unknown>): PackRecord {
  const { size, objects, checksum, thin, replaces, createdAt } = record as unknown as PackRecord
  if (!isOid(checksum)) throw new InvalidRecordError('checksum is not 40 lower-case hex digits')
  return {
    size,
    objects,
    checksum,
    thin,
    ...(replaces === undefined ? {} : { replaces }),
    createdAt,
  }
}

/**
 * The same for a reader that needs no content. `bytes` may have been taken out of the JSON, and are not looked at if they
 * are there, so that both come to the same.
 *
 * @param isParked whether the record has `bytes` that are not in the JSON
 * @throws {@link InvalidRecordError}
 */
export function decodePackSummary(json: unknown, isParked: boolean): Pick<PackRecord, 'size' | 'objects'> {
  const { bytes, ...rest } = typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {}
  const isInline = isParked || bytes !== undefined
  const record = checkRecord(PACK_COLLECTION, Array.isArray(json) ? json : rest)
  const { size, objects, checksum } = record as unknown as PackRecord
  if (!isOid(checksum)) throw new InvalidRecordError('checksum is not 40 lower-case hex digits')
  if (isInline && record.parts === undefined) {
    if (size > INLINE_PACK_LIMIT) throw new InvalidRecordError(`size is ${size}, which is more than bytes can hold`)
  } else {
    decodeContent(isInline ? { ...record, bytes: new Uint8Array() } : record, size)
  }
  return { size, objects }
}

function decodeContent(record: Record<string, unknown>, size: number): { bytes: Uint8Array } | { parts: BlobRef[] } {
  const bytes = record.bytes as Uint8Array | undefined
  const parts = (record.parts as LexiconBlob[] | undefined)?.map(plainBlob)
  if (bytes && !parts) {
    if (bytes.length !== size) throw new InvalidRecordError(`size is ${size}, but bytes holds ${bytes.length}`)
    return { bytes }
  }
  if (parts && !bytes) {
    const total = parts.reduce((sum, part) => sum + part.size, 0)
    if (total !== size) throw new InvalidRecordError(`size is ${size}, but the parts have ${total}`)
    return { parts }
  }
  throw new InvalidRecordError('must have one of bytes and parts')
}

/** A blob as it stands in JSON: the library's class could not cross a Durable Object call. */
function plainBlob(blob: LexiconBlob): BlobRef {
  // Its bytes could not be checked.
  if (!isBlobCid(blob.ref)) throw new InvalidRecordError(`${blob.ref} is not the CID of raw bytes by their SHA-256`)
  return { $type: 'blob', ref: { $link: blob.ref.toString() }, mimeType: blob.mimeType, size: blob.size }
}

/** The JSON to store. */
export function encodePackRecord(record: PackRecord): Record<string, unknown> {
  const { bytes, ...rest } = record
  if (!bytes) return { $type: PACK_COLLECTION, ...rest }
  return { $type: PACK_COLLECTION, bytes: { $bytes: Buffer.from(bytes).toString('base64') }, ...rest }
}

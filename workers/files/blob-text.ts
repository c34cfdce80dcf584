import type { Oid } from '../../git/bytes/oid.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { BLOB } from '../../git/object/object-type.ts'
import { readObject } from '../../git/object/read-object.ts'
import { BINARY, sniffType } from './media-type.ts'

/** What a blob holds, as far as it is read as text. Sizes are in bytes. */
export type BlobText =
  | { readonly kind: 'text'; readonly bytes: Uint8Array }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }
  /** It is more than was to be read, and has not been. */
  | { readonly kind: 'too-large'; readonly size: number }

/** @throws {@link MissingObjectError}, {@link MalformedObjectError}, {@link ObjectTooLargeError} */
export async function readBlobText(objects: ObjectSource, oid: Oid, maxBytes: number): Promise<BlobText> {
  const stat = await objects.stat(oid)
  if (stat === null) throw new MissingObjectError(oid)
  if (stat.size > maxBytes) return { kind: 'too-large', size: stat.size }
  const bytes = await readObject(objects, oid, BLOB)
  return { kind: sniffType(bytes) === BINARY ? 'binary' : 'text', bytes }
}

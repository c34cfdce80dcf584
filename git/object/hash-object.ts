import { createHash } from 'node:crypto'
import type { Oid } from '../bytes/oid.ts'
import { type ObjectType, objectTypeName } from './object-type.ts'

/** The id of an object: SHA-1 of `<type> <size>\0` and its bytes. */
export function hashObject(type: ObjectType, bytes: Uint8Array): Oid {
  return createHash('sha1')
    .update(`${objectTypeName(type)} ${bytes.length}\0`)
    .update(bytes)
    .digest('hex')
}

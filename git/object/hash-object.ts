import { createHash } from 'node:crypto'
import { type Oid, oidFromBytes } from '../bytes/oid.ts'
import { type ObjectType, objectTypeName } from './object-type.ts'

/** The raw id of an object: the SHA-1 of its header (`blob 12\0`) and its bytes. */
export function objectHash(type: ObjectType, bytes: Uint8Array): Uint8Array {
  return createHash('sha1')
    .update(`${objectTypeName(type)} ${bytes.length}\0`)
    .update(bytes)
    .digest()
}

/** The same as hex. */
export function hashObject(type: ObjectType, bytes: Uint8Array): Oid {
  return oidFromBytes(objectHash(type, bytes))
}

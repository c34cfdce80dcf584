import type { Oid } from '../bytes/oid.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { MissingObjectError } from './missing-object-error.ts'
import type { ObjectSource } from './object-source.ts'
import { type ObjectType, objectTypeName, TREE } from './object-type.ts'

/** The tree without entries. git knows it without having it stored, so a commit may name it where no pack holds it. */
export const EMPTY_TREE: Oid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/**
 * The bytes of an object that must be there and of this type.
 *
 * @throws {@link MissingObjectError}
 * @throws {@link MalformedObjectError} if it is of another type.
 */
export async function readObject(source: ObjectSource, oid: Oid, type: ObjectType): Promise<Uint8Array> {
  if (oid === EMPTY_TREE && type === TREE) return new Uint8Array(0)
  const object = await source.read(oid)
  if (object === null) throw new MissingObjectError(oid)
  if (object.type !== type) throw new MalformedObjectError(type, `${oid} is a ${objectTypeName(object.type)}`)
  return object.bytes
}

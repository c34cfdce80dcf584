import type { Oid } from '../bytes/oid.ts'
import type { GitObject, ObjectType } from './object-type.ts'

/** Finds objects by id, wherever they are kept. */
export interface ObjectSource {
  /** The object, or null if it is absent. */
  read(oid: Oid): Promise<GitObject | null>
  /** Its type and size in bytes without reading it, or null if it is absent. */
  stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null>
}

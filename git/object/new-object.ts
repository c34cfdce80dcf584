import type { Oid } from '../bytes/oid.ts'
import type { GitObject } from './object-type.ts'

/** An object that has been made, to be stored unless it is there already. */
export interface NewObject extends GitObject {
  readonly oid: Oid
  /** An object of the same type that it is most likely to be much alike: what stood at its path before. */
  readonly base: Oid | null
}

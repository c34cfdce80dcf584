import type { Oid } from '../bytes/oid.ts'

/** Gives ids numbers, in whatever order. */
export interface IdNumbers {
  /** The number of the raw id at `at` of `bytes`; a new id gets one. */
  intern(bytes: Uint8Array, at?: number): number
}

/** Numbers of the objects of a pack, and of those that they point at. Entries are told apart by their ordinals. */
export interface ObjectNumbers extends IdNumbers {
  /** All numbers so far are below. */
  readonly size: number
  oidAt(number: number): Oid
  /** Copies the raw id with this number to `at` of `target`. */
  copy(number: number, target: Uint8Array, at: number): void
  /** The number of the entry's id. */
  numberOf(ordinal: number): number
  /** The first entry with this id, or -1 if there is none. */
  ordinalOf(number: number): number
}

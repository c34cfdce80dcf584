import type { Oid } from '../bytes/oid.ts'

/** An object that a fetch needs is in no pack: the repository cannot serve it whole. */
export class MissingObjectError extends Error {
  override name = 'MissingObjectError'
  readonly oid: Oid

  constructor(oid: Oid) {
    super(`object ${oid} is missing`)
    this.oid = oid
  }
}

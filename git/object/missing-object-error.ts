import type { Oid } from '../bytes/oid.ts'

/** An object that another one, a ref or a client names is in no pack: the repository is not complete. */
export class MissingObjectError extends Error {
  override name = 'MissingObjectError'
  readonly oid: Oid

  constructor(oid: Oid) {
    super(`object ${oid} is missing`)
    this.oid = oid
  }
}

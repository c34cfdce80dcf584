import type { RowValue } from './plugins/plugin.ts'

/** What a plugin makes of a record; a fault says why nothing. */
export interface DecodedRecord {
  readonly values: readonly RowValue[] | null
  readonly fault: string | null
}

/**
 * Stands for the value of a record of which only what the index keeps is left. So what is held of an account is small, however
 * large its records are.
 */
export class CondensedValue {
  readonly decoded: DecodedRecord

  constructor(decoded: DecodedRecord) {
    this.decoded = decoded
  }
}

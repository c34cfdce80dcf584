/** A record, or an entry of one, that was left out because it is not valid. */
export interface SkippedRecord {
  readonly uri: string
  readonly reason: string
}

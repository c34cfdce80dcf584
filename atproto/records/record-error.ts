/** A record does not match its lexicon, or contradicts its key. The message says what is wrong with it. */
export class InvalidRecordError extends Error {
  override name = 'InvalidRecordError'
}

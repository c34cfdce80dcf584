/** What bounds the following of one upstream. Times are in milliseconds. */
export interface FirehoseLimits {
  /** Bytes of JSON of a batch's events. A message of a Queue has 128,000 in all. */
  readonly batchBytes: number
  readonly batchEvents: number
  /** Events gather for so long. */
  readonly gatherFor: number
  /** The same where none of them brings a record: of a relay those are nearly all, and nobody waits for them. */
  readonly gatherQuietlyFor: number
  /** Batches that are sent and not applied. With more, nothing is read. */
  readonly pendingBatches: number
  /** Bytes of messages that have come and are not decoded. */
  readonly bufferedBytes: number
  /** Messages that are decoded at a time: keys are looked up, and packs parked, for all of them together. */
  readonly framesAtOnce: number
  /** Values that these may hold together, but for the last one's: what costs memory once it is decoded. */
  readonly valuesAtOnce: number
  /** Messages to the Queue that are on their way. */
  readonly sendsAtOnce: number
  /** A batch that is not applied for so long is read again; each time after twice as long. */
  readonly patience: number
  readonly longestPatience: number
  /** The object looks after itself so often. */
  readonly heartbeat: number
  /** An upstream may be silent for so long; one that says much, for less. */
  readonly longestSilence: number
  readonly shortestSilence: number
  /** Pauses between tries to connect: the first, which doubles, and the longest. */
  readonly firstPause: number
  readonly longestPause: number
  /** A connection that has lasted so long counts as one that works. */
  readonly steadyAfter: number
}

export const FIREHOSE_LIMITS: FirehoseLimits = {
  batchBytes: 110_000,
  batchEvents: 500,
  gatherFor: 200,
  gatherQuietlyFor: 2000,
  pendingBatches: 64,
  bufferedBytes: 16 * 1024 * 1024,
  framesAtOnce: 64,
  valuesAtOnce: 100_000,
  sendsAtOnce: 4,
  patience: 60_000,
  longestPatience: 15 * 60_000,
  heartbeat: 30_000,
  longestSilence: 5 * 60_000,
  shortestSilence: 20_000,
  firstPause: 500,
  longestPause: 60_000,
  steadyAfter: 10_000,
}

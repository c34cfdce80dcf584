const MEBIBYTE = 1024 * 1024

/** What a pack may ask for while it is taken in. A Worker has 128 MB of memory and 5 minutes of CPU. */
export interface PackLimits {
  /** Bytes of an object or delta that is held in memory whole. Blobs that are no deltas may be larger. */
  readonly objectBytes: number
  /** Entries of a pack: each takes some 150 bytes of tables. */
  readonly entries: number
  /** Bytes inflated and made from deltas in all. A few bytes of deltas can unfold to terabytes. */
  readonly unfoldedBytes: number
}

export const PACK_LIMITS: PackLimits = {
  objectBytes: 32 * MEBIBYTE,
  entries: 1_000_000,
  unfoldedBytes: 64 * 1024 * MEBIBYTE,
}

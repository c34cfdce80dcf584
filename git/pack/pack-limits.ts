const MEBIBYTE = 1024 * 1024

/** What a pack may ask for while it is taken in. A Worker has 128 MB of memory and 5 minutes of CPU. */
export interface PackLimits {
  /** Bytes of an object or delta that is held in memory whole. Blobs that are no deltas may be larger. */
  readonly objectBytes: number
  /** Entries of a pack: each takes some 160 bytes of tables while it is taken in. */
  readonly entries: number
  /** Ids met in all, of entries and of what they point at: 40 bytes each. */
  readonly ids: number
  /** Bytes inflated and made from deltas in all. A few bytes of deltas can unfold to terabytes. */
  readonly unfoldedBytes: number
  /** Inflated deltas kept between the two passes, in bytes; the others are read again. */
  readonly keptDeltaBytes: number
  /** Objects kept at hand while deltas on them are applied, in bytes; the others are made again. */
  readonly keptObjectBytes: number
  /** Tree entries kept for the graph, 4 bytes each; the other trees are read again. */
  readonly keptTreeEntries: number
}

export const PACK_LIMITS: PackLimits = {
  objectBytes: 32 * MEBIBYTE,
  entries: 500_000,
  ids: 1_000_000,
  unfoldedBytes: 64 * 1024 * MEBIBYTE,
  keptDeltaBytes: 12 * MEBIBYTE,
  // Room for the largest object there may be.
  keptObjectBytes: 32 * MEBIBYTE,
  keptTreeEntries: 6 * MEBIBYTE,
}

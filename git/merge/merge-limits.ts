const MEBIBYTE = 1024 * 1024

/** What a merge may cost. */
export interface MergeLimits {
  /** Bytes of a file whose lines are merged; larger ones conflict. 4 MiB take up to a second or two. */
  readonly textBytes: number
  /** Bytes of the merged files and trees, and of conflicts' texts, that are held in all. */
  readonly heldBytes: number
}

export const MERGE_LIMITS: MergeLimits = { textBytes: 4 * MEBIBYTE, heldBytes: 32 * MEBIBYTE }

/** More differs on both sides than is merged here. */
export class MergeTooLargeError extends Error {
  override name = 'MergeTooLargeError'
}

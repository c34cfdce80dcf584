const MEBIBYTE = 1024 * 1024

/** What a merge may cost. */
export interface MergeLimits {
  /** Bytes of a file whose lines are merged; larger ones conflict. */
  readonly textBytes: number
  /** Lines of such a file: each takes some 50 bytes while three texts are compared, and 200,000 take up to two seconds. */
  readonly textLines: number
  /** Bytes of the merged files and trees, and of conflicts' texts, that are held in all. */
  readonly heldBytes: number
}

export const MERGE_LIMITS: MergeLimits = { textBytes: 4 * MEBIBYTE, textLines: 200_000, heldBytes: 32 * MEBIBYTE }

/** More differs on both sides than is merged here. */
export class MergeTooLargeError extends Error {
  override name = 'MergeTooLargeError'
}

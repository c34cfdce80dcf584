/** Where a page ends: the values that its last row is sorted by. The next one begins after it, whatever has come since. */
export type Position = readonly (string | number)[]

/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Of the next page; null: this is the last one. */
  readonly next: Position | null
}

/** Cuts what was read for a page, one more than its limit, if there are so many. */
export function pageOf<R, T>(
  rows: readonly R[],
  limit: number,
  position: (row: R) => Position,
  item: (row: R) => T,
): Page<T> {
  const shown = rows.slice(0, limit)
  return { items: shown.map(item), next: rows.length > limit ? position(shown.at(-1)!) : null }
}

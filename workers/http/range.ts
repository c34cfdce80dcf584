/** A range of bytes, `end` not included. */
export interface RequestedRange {
  readonly start: number
  readonly end: number
}

/**
 * Reads a `Range` header (RFC 9110, 14.2) for content of `size` bytes.
 *
 * @returns the range; `'unsatisfiable'` (416) if it starts after the end; or null where the whole is to be sent: no
 *   header, another unit, several ranges, or no valid range.
 */
export function parseRange(header: string | null, size: number): RequestedRange | 'unsatisfiable' | null {
  const match = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i.exec(header?.trim() ?? '')
  if (match === null) return null
  const [first, last] = [match[1]!, match[2]!]
  if (first === '') {
    if (last === '') return null
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/** D1 takes values of 2 MB; this is in UTF-16 units, of which one may be three bytes. */
const PARAMETER_LENGTH = 500_000

/**
 * JSON arrays of rows, none of them too large for a parameter unless one row is: D1 takes a hundred parameters, and with
 * `json_each` one of them is as many rows as fit.
 */
export function inParts(rows: readonly unknown[]): string[] {
  const parts: string[] = []
  let part: string[] = []
  let length = 0
  for (const row of rows.map((row) => JSON.stringify(row))) {
    if (length + row.length > PARAMETER_LENGTH && part.length > 0) {
      parts.push(`[${part.join()}]`)
      part = []
      length = 0
    }
    part.push(row)
    length += row.length + 1
  }
  if (part.length > 0) parts.push(`[${part.join()}]`)
  return parts
}

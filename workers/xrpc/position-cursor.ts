import { Buffer } from 'node:buffer'
import type { Position } from '../../storage/index/keyset.ts'
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts'

/** A cursor for where a page ended. */
export function encodePosition(position: Position | null): string | undefined {
  return position === null ? undefined : encodeCursor(Buffer.from(JSON.stringify(position)))
}

/**
 * @param kinds of the position's values: one that is otherwise is none of this method
 * @throws {@link HttpError} 400
 */
export function decodePosition(
  cursor: string | undefined,
  kinds: readonly ('string' | 'number')[],
): { readonly after?: Position } {
  if (cursor === undefined) return {}
  const values = parse(Buffer.from(decodeCursor(cursor)).toString())
  const isPosition =
    Array.isArray(values) &&
    values.length === kinds.length &&
    values.every((value, i) => typeof value === kinds[i] && (typeof value === 'string' || Number.isSafeInteger(value)))
  if (!isPosition) throw invalidCursor()
  return { after: values }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw invalidCursor()
  }
}

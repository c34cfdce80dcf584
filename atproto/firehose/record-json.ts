import { isBytes, isCidLink } from '@atcute/cbor'
import { MAX_RECORD_DEPTH } from '../records/record-bounds.ts'

/** A record that is no use to anyone. */
export class UnreadableRecordError extends Error {
  override name = 'UnreadableRecordError'
}

/**
 * A decoded value as plain JSON of atproto, with `$link` and `$bytes`. https://atproto.com/specs/data-model#json-representation
 *
 * @throws {@link UnreadableRecordError} where it is nested too deep
 */
export function recordJson(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_RECORD_DEPTH) throw new UnreadableRecordError(`is nested deeper than ${MAX_RECORD_DEPTH}`)
  if (Array.isArray(value)) return value.map((item) => recordJson(item, depth + 1))
  if (isCidLink(value)) return { $link: value.$link }
  if (isBytes(value)) return { $bytes: value.$bytes }
  // An own property also where its name is `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, recordJson(item, depth + 1)]))
}

/**
 * The value of an event. Of a record that cannot be read it is the reason: no record is a text, so that it is refused by
 * whoever validates it, like any other that is invalid.
 */
export function eventValue(read: () => unknown): unknown {
  try {
    return recordJson(read())
  } catch (fault) {
    return `unreadable: ${(fault as Error).message}`
  }
}

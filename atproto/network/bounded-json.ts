import { MAX_RECORD_DEPTH, MAX_RECORD_VALUES } from '../records/record-bounds.ts'
import { parseJson } from './json.ts'

/** JSON that would take far more memory than its text does. */
export class HeavyJsonError extends Error {
  override name = 'HeavyJsonError'

  constructor(limit: number) {
    super(`holds more than ${limit} values`)
  }
}

export interface JsonBounds {
  /** How many lists and objects lie around a record; those that are no records are bounded alike. Default: there are none. */
  readonly recordsAt?: number
  /** Default {@link MAX_VALUES}. */
  readonly maxValues?: number
}

export interface BoundedJson {
  /** Undefined: the text is no JSON. */
  readonly value: unknown
  /** How many values it holds, about. */
  readonly values: number
}

/** Values of all that is read at once: some 10 MB, if they are empty objects. */
const MAX_VALUES = 100_000

/**
 * Parses JSON that a stranger sent. What its values cost is known before there are any: a text of `{},{},…` becomes twenty
 * times as large. A record that holds more, or is nested deeper, than any may be is null, as if it was not told.
 *
 * @throws {@link HeavyJsonError} where there are too many values even so
 */
export function parseBoundedJson(
  text: string,
  { recordsAt = Number.POSITIVE_INFINITY, maxValues = MAX_VALUES }: JsonBounds = {},
): BoundedJson {
  let kept = ''
  let keptTo = 0
  let values = 0
  let depth = 0
  let record: RecordStart = { start: 0, before: 0, deepest: 0 }
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfString(text, at)
    else if (char === COMMA) values++
    else if (char === LIST || char === OBJECT) {
      if (depth === recordsAt) record = { start: at, before: values, deepest: depth }
      depth++
      values++
      if (depth > record.deepest) record.deepest = depth
    } else if (char === LIST_END || char === OBJECT_END) {
      depth--
      if (depth === recordsAt && isTooMuch(record, values, depth)) {
        kept += `${text.slice(keptTo, record.start)}null`
        keptTo = at + 1
        values = record.before
      }
    }
    // Of a record it is not known before its end whether it is read.
    if (values > maxValues && depth <= recordsAt) throw new HeavyJsonError(maxValues)
  }
  // What has no end would be read, and held, up to there.
  if (depth !== 0) return { value: undefined, values }
  return { value: parseJson(keptTo === 0 ? text : kept + text.slice(keptTo)), values }
}

interface RecordStart {
  readonly start: number
  /** How many values there were before it. */
  readonly before: number
  deepest: number
}

function isTooMuch({ before, deepest }: RecordStart, values: number, depth: number): boolean {
  return values - before > MAX_RECORD_VALUES || deepest - depth > MAX_RECORD_DEPTH
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Where the string ends that begins there: at its last quote, or that of the text. */
function endOfString(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1)
    if (end < 0) return text.length
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
}

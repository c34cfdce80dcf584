import { concatBytes } from '../../git/bytes/concat.ts'

/** What stands for bytes in the JSON: from where to where they lie behind it. */
const BYTES = '$bytes'
const LENGTH_BYTES = 4

/** What can be kept: JSON, and bytes anywhere in it. */
export type Encodable =
  | string
  | number
  | boolean
  | null
  | undefined
  | Uint8Array
  | readonly Encodable[]
  | { readonly [key: string]: Encodable }

/**
 * A value as bytes: the length of its JSON in four bytes, the JSON, and after it all bytes that are in the value. Equal
 * values have equal bytes, whatever the order of their keys.
 */
export function encodeValue(value: Encodable): Uint8Array {
  const parts: Uint8Array[] = []
  let size = 0
  const plain = (part: Encodable): unknown => {
    if (part instanceof Uint8Array) {
      parts.push(part)
      size += part.length
      return { [BYTES]: [size - part.length, size] }
    }
    if (Array.isArray(part)) return part.map(plain)
    if (typeof part !== 'object' || part === null) return part
    const entries = Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, field]) => [key, plain(field)]))
  }
  const json = new TextEncoder().encode(JSON.stringify(plain(value)))
  const length = new Uint8Array(LENGTH_BYTES)
  new DataView(length.buffer).setUint32(0, json.length)
  return concatBytes([length, json, ...parts])
}

/** The value that {@link encodeValue} made these bytes of. Bytes in it are views. */
export function decodeValue(encoded: Uint8Array): Encodable {
  const jsonEnd = LENGTH_BYTES + new DataView(encoded.buffer, encoded.byteOffset).getUint32(0)
  const json = new TextDecoder().decode(encoded.subarray(LENGTH_BYTES, jsonEnd))
  const bytes = encoded.subarray(jsonEnd)
  return JSON.parse(json, (_, value) => {
    const place = value?.[BYTES]
    return Array.isArray(place) ? bytes.subarray(place[0], place[1]) : value
  })
}

/** CBOR that its decoder must not see. */
export class CborShapeError extends Error {
  override name = 'CborShapeError'
}

export interface CborBounds {
  readonly maxDepth: number
  /** Of lists and maps, in which a key is one, too. */
  readonly maxItems: number
}

/**
 * Refuses CBOR that is nested too deep, has more items than are worth it (an empty map takes a byte there, and sixty when it is
 * decoded), or in which lists announce more than there can be: the decoder makes room for all of a list at once, and lists in
 * each other, of a few bytes each, would take gigabytes. It looks at the first value only.
 *
 * @returns how many items there are
 * @throws {@link CborShapeError}
 */
export function checkCborShape(bytes: Uint8Array, { maxDepth, maxItems }: CborBounds): number {
  const open: number[] = []
  let announced = 0
  let at = 0
  do {
    const head = bytes[at++]
    if (head === undefined) throw new CborShapeError('ends in the middle')
    const type = head >> 5
    const [argument, length] = readArgument(bytes, at, head & 0x1f)
    at += length
    if (type === TYPE_BYTES || type === TYPE_TEXT) at += argument
    const items = itemsOf(type, argument)
    if (items > 0) {
      announced += items
      if (announced > bytes.length) throw new CborShapeError('announces more than it holds')
      if (announced > maxItems) throw new CborShapeError(`has more than ${maxItems} items`)
      if (open.length === maxDepth) throw new CborShapeError(`is nested deeper than ${maxDepth}`)
      open.push(items)
      continue
    }
    while (open.length > 0 && --open[open.length - 1]! === 0) open.pop()
  } while (open.length > 0)
  return announced
}

const TYPE_BYTES = 2
const TYPE_TEXT = 3
const TYPE_ARRAY = 4
const TYPE_MAP = 5
const TYPE_TAG = 6

function itemsOf(type: number, argument: number): number {
  if (type === TYPE_ARRAY) return argument
  if (type === TYPE_MAP) return 2 * argument
  return type === TYPE_TAG ? 1 : 0
}

/** @returns the argument, and how many bytes it takes after the head */
function readArgument(bytes: Uint8Array, at: number, info: number): [number, number] {
  if (info < 24) return [info, 0]
  if (info > 27) throw new CborShapeError('has a head of no known form')
  const length = 2 ** (info - 24)
  let argument = 0
  for (let i = 0; i < length; i++) argument = argument * 256 + (bytes[at + i] ?? 0)
  return [argument, length]
}

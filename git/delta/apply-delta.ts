/** The delta does not fit its base or runs out of its bounds. */
export class DeltaError extends Error {
  override name = 'DeltaError'
}

/** The sizes that a delta declares: of its base and of its result, in bytes. */
export interface DeltaSizes {
  readonly base: number
  readonly result: number
  /** Where the instructions start. */
  readonly instructions: number
}

/**
 * Reads the two sizes at the start of a delta (gitformat-pack, "Deltified representation").
 * Only multiplication: sizes may pass 32 bits.
 *
 * @throws {@link DeltaError}
 */
export function readDeltaSizes(delta: Uint8Array): DeltaSizes {
  let at = 0
  const readSize = () => {
    let size = 0
    for (let scale = 1; ; scale *= 128) {
      if (at >= delta.length) throw new DeltaError('delta ends inside its header')
      const byte = delta[at++]!
      size += (byte & 127) * scale
      if (!Number.isSafeInteger(size)) throw new DeltaError('delta declares an impossible size')
      if (byte < 128) return size
    }
  }
  const base = readSize()
  const result = readSize()
  return { base, result, instructions: at }
}

/**
 * Applies a delta to its base.
 *
 * @param limit the largest result, in bytes, that the caller has room for.
 * @throws {@link DeltaError}
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array, limit: number): Uint8Array {
  const sizes = checkDeltaSizes(base, delta, limit)
  const result = new Uint8Array(sizes.result)
  applyDeltaInto(base, delta, sizes, result)
  return result
}

/**
 * Whether a delta may fit: nothing need be allocated for one that cannot.
 *
 * @throws {@link DeltaError}
 */
export function checkDeltaSizes(base: Uint8Array, delta: Uint8Array, limit: number): DeltaSizes {
  const sizes = readDeltaSizes(delta)
  if (sizes.base !== base.length) throw new DeltaError('delta is for a base of another size')
  if (sizes.result > limit) throw new DeltaError(`delta makes ${sizes.result} bytes, more than the limit of ${limit}`)
  // No instruction makes more: a copy has 24 bits of size.
  if (sizes.result > (delta.length - sizes.instructions) * 0xffffff) {
    throw new DeltaError('delta is too short for its declared size')
  }
  return sizes
}

/** Applies a delta whose sizes were checked to `result`, which has the declared size. @throws {@link DeltaError} */
export function applyDeltaInto(base: Uint8Array, delta: Uint8Array, sizes: DeltaSizes, result: Uint8Array): void {
  let at = sizes.instructions
  let written = 0
  while (at < delta.length) {
    const op = delta[at++]!
    if (op & 0x80) {
      let from = 0
      let size = 0
      if (op & 0x01) from = delta[at++]!
      if (op & 0x02) from += delta[at++]! * 0x100
      if (op & 0x04) from += delta[at++]! * 0x10000
      if (op & 0x08) from += delta[at++]! * 0x1000000
      if (op & 0x10) size = delta[at++]!
      if (op & 0x20) size += delta[at++]! * 0x100
      if (op & 0x40) size += delta[at++]! * 0x10000
      if (size === 0) size = 0x10000
      // Reading past the end above yields NaN, which fails here too.
      if (!(from + size <= base.length)) throw new DeltaError('delta copies from outside of its base')
      if (written + size > result.length) throw new DeltaError('delta makes more than it declares')
      if (size < 32) {
        for (let i = 0; i < size; i++) result[written + i] = base[from + i]!
      } else {
        result.set(base.subarray(from, from + size), written)
      }
      written += size
    } else if (op > 0) {
      if (at + op > delta.length) throw new DeltaError('delta ends inside an insert')
      if (written + op > result.length) throw new DeltaError('delta makes more than it declares')
      for (let i = 0; i < op; i++) result[written + i] = delta[at + i]!
      at += op
      written += op
    } else {
      throw new DeltaError('delta has the reserved instruction 0')
    }
  }
  if (written !== result.length) throw new DeltaError('delta makes less than it declares')
}

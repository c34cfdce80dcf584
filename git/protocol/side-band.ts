import { LENGTH_BYTES, LINE_LIMIT, writeLength } from './pkt-line.ts'

/** What a side-band packet carries (gitprotocol-pack): the pack or report, words for the user, a fatal error. */
export const BAND_DATA = 1
export const BAND_PROGRESS = 2
export const BAND_ERROR = 3

export type Band = typeof BAND_DATA | typeof BAND_PROGRESS | typeof BAND_ERROR

/** Data bytes in one packet of `side-band-64k`: a line less its length and the band. */
export const SIDE_BAND_64K_DATA = LINE_LIMIT - LENGTH_BYTES - 1
/** Data bytes in one packet of `side-band`, of at most 1000 bytes. */
export const SIDE_BAND_DATA = 1000 - LENGTH_BYTES - 1

const OVERHEAD = LENGTH_BYTES + 1
const encoder = new TextEncoder()

/** Frames bytes of one band, in as many packets as it takes, in one buffer. */
export function sideBand(band: Band, data: Uint8Array | string, limit = SIDE_BAND_64K_DATA): Uint8Array {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data
  return frame(new Uint8Array(framedLength(bytes.length, limit)), band, bytes, limit)
}

/**
 * Frames a pack chunk by chunk, in a buffer that it uses again: a pack of any size leaves nothing behind to collect. A
 * frame is there until the next is asked for.
 */
export class DataFramer {
  readonly #limit: number
  #buffer = new Uint8Array(0)

  /** @param limit data bytes in one packet */
  constructor(limit: number) {
    this.#limit = limit
  }

  frame(data: Uint8Array): Uint8Array {
    const length = framedLength(data.length, this.#limit)
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(length)
    return frame(this.#buffer.subarray(0, length), BAND_DATA, data, this.#limit)
  }
}

function framedLength(length: number, limit: number): number {
  return length + Math.ceil(length / limit) * OVERHEAD
}

function frame(framed: Uint8Array, band: Band, bytes: Uint8Array, limit: number): Uint8Array {
  let to = 0
  for (let from = 0; from < bytes.length; from += limit) {
    const part = bytes.subarray(from, from + limit)
    writeLength(framed, to, part.length + OVERHEAD)
    framed[to + LENGTH_BYTES] = band
    framed.set(part, to + OVERHEAD)
    to += OVERHEAD + part.length
  }
  return framed
}

/** How a client takes the pack: data bytes a packet, or null for a pack that is not framed. */
export function sideBandLimit(capabilities: { has(name: string): boolean }): number | null {
  if (capabilities.has('side-band-64k')) return SIDE_BAND_64K_DATA
  if (capabilities.has('side-band')) return SIDE_BAND_DATA
  return null
}

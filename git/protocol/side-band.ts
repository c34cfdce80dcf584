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
  const packets = Math.ceil(bytes.length / limit)
  const framed = new Uint8Array(bytes.length + packets * OVERHEAD)
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

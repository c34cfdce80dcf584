import { PktLineReader, type PktLineReaderOptions } from '../../../git/protocol/pkt-line-reader.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A request or answer as tests write it: text becomes a data line, null a flush, 1 a delim, 2 a response-end. */
export function wire(...packets: (string | null | 1 | 2)[]): Uint8Array {
  const parts = packets.map((packet) => {
    if (packet === null) return encoder.encode('0000')
    if (typeof packet === 'number') return encoder.encode(`000${packet}`)
    const data = encoder.encode(packet)
    return concat([encoder.encode((data.length + 4).toString(16).padStart(4, '0')), data])
  })
  return concat(parts)
}

export function concat(parts: Iterable<Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...parts]))
}

export function text(parts: Uint8Array | Iterable<Uint8Array>): string {
  return decoder.decode(parts instanceof Uint8Array ? parts : concat(parts))
}

/** The bytes in chunks of `size`: packets must be found wherever the network cuts. */
export async function* chunked(bytes: Uint8Array, size = bytes.length): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += Math.max(size, 1)) yield bytes.subarray(at, at + Math.max(size, 1))
}

export function readerOf(bytes: Uint8Array | string, size?: number, options?: PktLineReaderOptions): PktLineReader {
  return new PktLineReader(chunked(typeof bytes === 'string' ? encoder.encode(bytes) : bytes, size), options)
}

/** An object id that is this digit, forty times. */
export function oid(digit: string | number): string {
  return String(digit).repeat(40)
}

import { ProtocolError } from './protocol-error.ts'

/** The four hex digits of a line count themselves. */
export const LENGTH_BYTES = 4
/** A line with its length, at most (gitprotocol-common). */
export const LINE_LIMIT = 65520
/** What a line can carry. */
export const LINE_DATA_LIMIT = LINE_LIMIT - LENGTH_BYTES

export const FLUSH = 'flush'
export const DELIM = 'delim'
export const RESPONSE_END = 'response-end'
/** The stream ended between two packets. */
export const END = 'end'

/** One packet: the bytes of a data line (newline included, where there is one), or a mark without data. */
export type Packet = Uint8Array | typeof FLUSH | typeof DELIM | typeof RESPONSE_END | typeof END

/** The framing itself is broken: a length that is none, a line that is too long or cut off. */
export class PktLineError extends ProtocolError {
  override name = 'PktLineError'
}

const NEWLINE = 0x0a
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A line without the newline at its end. */
export function trimLine(line: Uint8Array): Uint8Array {
  return line.length > 0 && line[line.length - 1] === NEWLINE ? line.subarray(0, line.length - 1) : line
}

/** A line as text, without the newline at its end. Bytes that are not UTF-8 become U+FFFD. */
export function lineText(line: Uint8Array): string {
  return decoder.decode(trimLine(line))
}

/** One data line, framed. Text is sent as it is: most lines of the protocol end in a newline. */
export function pktLine(data: Uint8Array | string): Uint8Array {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data
  if (bytes.length > LINE_DATA_LIMIT) throw new PktLineError(`line of ${bytes.length} bytes is too long`)
  const packet = new Uint8Array(LENGTH_BYTES + bytes.length)
  writeLength(packet, 0, packet.length)
  packet.set(bytes, LENGTH_BYTES)
  return packet
}

/** Words for a user are cut here: a message may quote what the client sent. */
const MESSAGE_LIMIT = 1000

/** The line that ends a conversation with words for the user: `ERR <message>`. */
export function errorLine(message: string): Uint8Array {
  return pktLine(`ERR ${message.slice(0, MESSAGE_LIMIT)}\n`)
}

const HEX = encoder.encode('0123456789abcdef')

/** Writes `length` as the four hex digits that start a packet. */
export function writeLength(bytes: Uint8Array, at: number, length: number): void {
  bytes[at] = HEX[(length >> 12) & 15]!
  bytes[at + 1] = HEX[(length >> 8) & 15]!
  bytes[at + 2] = HEX[(length >> 4) & 15]!
  bytes[at + 3] = HEX[length & 15]!
}

/** The number in the four hex digits at `at`. @throws {@link PktLineError} */
export function readLength(bytes: Uint8Array, at: number): number {
  let length = 0
  for (let i = at; i < at + LENGTH_BYTES; i++) {
    const digit = hexDigit(bytes[i]!)
    if (digit < 0) throw new PktLineError('line without a length in hex')
    length = length * 16 + digit
  }
  return length
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}

const LF = 0x0a
const SPACE = 0x20

/** One header of a commit or tag. */
export interface Header {
  readonly key: string
  /** A view; of a value that goes on over several lines (gpgsig) with the leading space still on each further line. */
  readonly value: Uint8Array
}

/**
 * Reads the headers of a commit or tag: lines `<key> SP <value> LF`, each followed by any lines that start with a
 * space and go on with its value, up to the first empty line or the end.
 *
 * @returns the headers in their order, and where the message starts.
 */
export function readHeaders(bytes: Uint8Array): { headers: Header[]; messageAt: number } {
  const headers: Header[] = []
  let at = 0
  while (at < bytes.length && bytes[at] !== LF) {
    let end = lineEnd(bytes, at)
    while (bytes[end + 1] === SPACE) end = lineEnd(bytes, end + 1)
    const line = bytes.subarray(at, end)
    const space = line.indexOf(SPACE)
    headers.push(space === -1 ? { key: asciiText(line), value: line.subarray(line.length) } : headerAt(line, space))
    at = end + 1
  }
  return { headers, messageAt: Math.min(at + 1, bytes.length) }
}

function headerAt(line: Uint8Array, space: number): Header {
  return { key: asciiText(line.subarray(0, space)), value: line.subarray(space + 1) }
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LF, from)
  return end === -1 ? bytes.length : end
}

/** The first header with this key, as git takes it where one is doubled, or null. */
export function firstHeader(headers: readonly Header[], key: string): Uint8Array | null {
  return headers.find((header) => header.key === key)?.value ?? null
}

/** One character a byte. */
export function asciiText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

import { invalidRequest } from './http-error.ts'

/**
 * Decodes percent-encoding in a part of a URL: the one place where that is done, once for each part. Paths in git are
 * bytes, so bytes come out.
 *
 * @throws {@link HttpError} 400 where two hex digits do not follow a `%`.
 */
export function percentDecode(text: string): Uint8Array {
  const input = encoder.encode(text)
  const output = new Uint8Array(input.length)
  let length = 0
  for (let at = 0; at < input.length; at++) {
    if (input[at] !== PERCENT) {
      output[length++] = input[at]!
      continue
    }
    const high = hexDigit(input[at + 1])
    const low = hexDigit(input[at + 2])
    if (high === -1 || low === -1) throw invalidRequest('a % in the URL is not followed by two hex digits')
    output[length++] = high * 16 + low
    at += 2
  }
  return output.subarray(0, length)
}

/** The same where text is wanted. @throws {@link HttpError} 400 also if it is no UTF-8. */
export function percentDecodeText(text: string): string {
  const decoded = utf8Text(percentDecode(text))
  if (decoded === null) throw invalidRequest('the URL holds bytes that are no UTF-8')
  return decoded
}

/** The text that these bytes are in UTF-8, or null. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

const PERCENT = 0x25
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}

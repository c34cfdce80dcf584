/**
 * Shows bytes as text: by the commit's `encoding` where the platform knows it, else as UTF-8, and what is no UTF-8 as
 * Latin-1, which is what old commits mostly hold (gitweb falls back to it too). Never throws.
 */
export function decodeText(bytes: Uint8Array, encoding: string | null = null): string {
  const declared = encoding === null ? null : decoderFor(encoding)
  if (declared !== null) return declared.decode(bytes)
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return latin1.decode(bytes)
    throw error
  }
}

/** Whether the bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes)
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const latin1 = new TextDecoder('windows-1252', { fatal: false, ignoreBOM: true })

function decoderFor(label: string): TextDecoder | null {
  if (/^utf-?8$/i.test(label.trim())) return null
  try {
    return new TextDecoder(label, { fatal: false, ignoreBOM: true })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** AES-GCM over JSON: `<iv>.<ciphertext>`, both base64. The context (the account's DID) has to be the same to open it. */

const IV_BYTES = 12
const KEY_BYTES = 32

/** The secret to seal with is missing or not 32 bytes of base64. */
export class SealingKeyError extends Error {
  override name = 'SealingKeyError'
}

/** @throws {@link SealingKeyError} */
export async function importSealingKey(base64: string): Promise<CryptoKey> {
  const bytes = fromBase64(base64)
  if (bytes.length !== KEY_BYTES) throw new SealingKeyError('SESSION_KEY must be 32 bytes in base64')
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

export async function seal(key: CryptoKey, context: string, value: unknown): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const plain = new TextEncoder().encode(JSON.stringify(value))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: utf8(context) }, key, plain)
  return `${Buffer.from(iv).toString('base64')}.${Buffer.from(sealed).toString('base64')}`
}

/** Null if it was sealed with another key or for another context: the secret has been changed, say. */
export async function unseal(key: CryptoKey, context: string, sealed: string): Promise<unknown> {
  const [iv, ciphertext] = sealed.split('.')
  if (iv === undefined || ciphertext === undefined) return null
  try {
    const algorithm = { name: 'AES-GCM', iv: fromBase64(iv), additionalData: utf8(context) }
    const plain = await crypto.subtle.decrypt(algorithm, key, fromBase64(ciphertext))
    return JSON.parse(new TextDecoder().decode(plain))
  } catch (cause) {
    if (cause instanceof DOMException) return null
    throw cause
  }
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** A CIDv1 of raw bytes by their SHA-256, before the digest: version, codec, hash and its length. */
const PREFIX = [0x01, 0x55, 0x12, 0x20]
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** What of a parsed CID says how it was made. */
export interface CidParts {
  readonly version: number
  readonly code: number
  readonly multihash: { readonly code: number; readonly digest: Uint8Array }
}

/** Whether a CID is one that blobs have: version 1, raw bytes, SHA-256. */
export function isBlobCid({ version, code, multihash }: CidParts): boolean {
  return [version, code, multihash.code, multihash.digest.length].every((value, i) => value === PREFIX[i])
}

/** The CID of the blob whose SHA-256 this is, as records have it. */
export function blobCid(sha256: Uint8Array): string {
  let text = 'b'
  let bits = 0
  let held = 0
  for (const byte of [...PREFIX, ...sha256]) {
    bits = ((bits << 8) | byte) & 0xfff
    for (held += 8; held >= 5; held -= 5) text += BASE32[(bits >> (held - 5)) & 31]
  }
  return held === 0 ? text : text + BASE32[(bits << (5 - held)) & 31]
}

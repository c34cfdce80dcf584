const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const JPEG = [0xff, 0xd8, 0xff]
const GIF = [0x47, 0x49, 0x46, 0x38]
const RIFF = [0x52, 0x49, 0x46, 0x46]
const WEBP = [0x57, 0x45, 0x42, 0x50]
const FTYP = [0x66, 0x74, 0x79, 0x70]
const AVIF = [0x61, 0x76, 0x69, 0x66]

/** The media type of a picture that is made of points, by its first bytes; null: it is none, whatever it is said to be. */
export function pictureType(bytes: Uint8Array): string | null {
  const has = (wanted: readonly number[], at = 0) => wanted.every((byte, i) => bytes[at + i] === byte)
  if (has(PNG)) return 'image/png'
  if (has(JPEG)) return 'image/jpeg'
  if (has(GIF)) return 'image/gif'
  if (has(RIFF) && has(WEBP, 8)) return 'image/webp'
  if (has(FTYP, 4) && has(AVIF, 8)) return 'image/avif'
  return null
}

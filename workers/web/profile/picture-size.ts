/** How large a picture is in points, by its head: what it takes in memory, whatever it is as a file. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** Markers of JPEG that begin a frame: its size follows (ITU-T T.81, B.1.1.3). */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/**
 * @param type as `pictureType` gives it
 * @returns null: it is not said where it is looked for
 */
export function pictureSize(bytes: Uint8Array, type: string): PictureSize | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    switch (type) {
      case 'image/png':
        return { width: view.getUint32(16), height: view.getUint32(20) }
      case 'image/gif':
        return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
      case 'image/jpeg':
        return jpegSize(view)
      case 'image/webp':
        return webpSize(view)
      default:
        return null
    }
  } catch (error) {
    // It ends before.
    if (error instanceof RangeError) return null
    throw error
  }
}

function jpegSize(view: DataView): PictureSize | null {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    if (isFrame(marker)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    // Fill bytes stand before a marker.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return null
}

const VP8 = 0x56503820
const VP8L = 0x5650384c
const VP8X = 0x56503858

/** https://developers.google.com/speed/webp/docs/riff_container */
function webpSize(view: DataView): PictureSize | null {
  switch (view.getUint32(12)) {
    case VP8:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case VP8L: {
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    case VP8X: {
      const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
      return { width: uint24(24) + 1, height: uint24(27) + 1 }
    }
    default:
      return null
  }
}

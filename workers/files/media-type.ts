/** Types of content that a browser may show from this origin, in the sandbox that raw answers are. */

const IMAGES: Readonly<Record<string, string>> = {
  apng: 'image/apng',
  avif: 'image/avif',
  bmp: 'image/bmp',
  gif: 'image/gif',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
}

export const TEXT = 'text/plain; charset=utf-8'
export const BINARY = 'application/octet-stream'

/** How far git itself looks for a NUL to tell binary files from text, in bytes. */
export const SNIFFED_BYTES = 8000

/** The type of an image by its file name, or null: no other content may be named by whoever wrote the file. */
export function imageType(fileName: string): string | null {
  const extension = /\.([a-z]+)$/i.exec(fileName)?.[1]?.toLowerCase()
  return extension === undefined ? null : (IMAGES[extension] ?? null)
}

/** Text or binary, by the start of the content. */
export function sniffType(start: Uint8Array): string {
  return start.subarray(0, SNIFFED_BYTES).includes(0) ? BINARY : TEXT
}

/**
 * A `Content-Disposition` header (RFC 6266) that no file name can break out of: the plain name has only letters that
 * need no quoting, and the exact one is percent-encoded.
 */
export function contentDisposition(kind: 'inline' | 'attachment', fileName: string): string {
  const plain = fileName.replaceAll(/[^A-Za-z0-9 ._+@()-]/g, '_')
  if (plain === fileName) return `${kind}; filename="${plain}"`
  const exact = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`
}

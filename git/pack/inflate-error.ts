/** The compressed stream is not valid zlib, or does not hold exactly as many bytes as the entry declares. */
export class InflateError extends Error {
  override name = 'InflateError'
}

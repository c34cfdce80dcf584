/** A URL that must not be fetched: a private address, plain http, credentials in it. */
export class RefusedUrlError extends Error {
  override name = 'RefusedUrlError'
  readonly host: string
  /** Reads on after the host's name. */
  readonly reason: string

  constructor(url: URL, reason: string) {
    super(`${url.host} ${reason}`)
    this.host = url.host
    this.reason = reason
  }
}

/** No answer: no connection, a connection that broke, a timeout, too many redirects. */
export class UnreachableHostError extends Error {
  override name = 'UnreachableHostError'
  readonly host: string
  /** `did not answer within 10 s`: reads on after the host's name. */
  readonly reason: string

  constructor(host: string, reason: string, options?: ErrorOptions) {
    super(`${host} ${reason}`, options)
    this.host = host
    this.reason = reason
  }
}

/** A host sent more than was allowed for. */
export class ResponseTooLargeError extends Error {
  override name = 'ResponseTooLargeError'
  readonly host: string
  /** In bytes. */
  readonly limit: number

  constructor(host: string, limit: number) {
    super(`${host} sent more than ${limit} bytes`)
    this.host = host
    this.limit = limit
  }
}

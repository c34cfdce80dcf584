/** A PDS refused a request, or answered it with something that is not its protocol. */
export class PdsError extends Error {
  override name = 'PdsError'
  readonly host: string
  /** HTTP status; 200 where the answer itself is not valid. */
  readonly status: number
  /** The error's name in the protocol, such as `ExpiredToken`, or '' where it gave none. */
  readonly error: string
  /** Seconds after which a try may succeed, where the PDS said so. */
  readonly retryAfter: number | null

  constructor(
    host: string,
    status: number,
    error: string,
    message: string,
    retryAfter: number | null,
    options?: ErrorOptions,
  ) {
    super(`${host} answered ${status}${error ? ` ${error}` : ''}${message ? `: ${message}` : ''}`, options)
    this.host = host
    this.status = status
    this.error = error
    this.retryAfter = retryAfter
  }

  /** The session is over or was never good: another token is needed. */
  get isTokenRefused(): boolean {
    return this.status === 401 || this.error === 'ExpiredToken' || this.error === 'InvalidToken'
  }
}

/** A PDS gave no answer at all, or not one to the end: whether the request was carried out is not known. */
export class PdsUnreachableError extends Error {
  override name = 'PdsUnreachableError'
  readonly host: string

  constructor(host: string, reason: string, options?: ErrorOptions) {
    super(`${host} ${reason}`, options)
    this.host = host
  }
}

/** Sent to a PDS this would exceed the requests that it allows us: nothing was sent. */
export class PdsBudgetError extends Error {
  override name = 'PdsBudgetError'
  readonly host: string
  /** Seconds until the host takes requests again. */
  readonly retryAfter: number

  constructor(host: string, until: Date, retryAfter: number) {
    super(`${host} takes no more requests from here until ${until.toISOString()}`)
    this.host = host
    this.retryAfter = retryAfter
  }
}

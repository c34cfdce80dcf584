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

/** Not sent: it would exceed the requests that the host allows us. Counts as the host's own 429. */
export class PdsBudgetError extends PdsError {
  override name = 'PdsBudgetError'

  constructor(host: string, until: Date, retryAfter: number) {
    super(host, 429, 'RateLimitExceeded', `no more requests from here until ${until.toISOString()}`, retryAfter)
    this.message = `${host} takes no more requests from here until ${until.toISOString()}`
  }
}

export type PdsFault = PdsError | PdsUnreachableError

export function isPdsFault(fault: unknown): fault is PdsFault {
  return fault instanceof PdsError || fault instanceof PdsUnreachableError
}

/** Seconds after which a try may succeed, where the PDS said so. */
export function retryAfterOf(fault: PdsFault): number | null {
  return fault instanceof PdsError ? fault.retryAfter : null
}

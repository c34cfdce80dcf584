/** A request that is answered with an error. Its message is for the client: it says nothing of the inside. */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly status: number
  /** Short name that programs tell errors apart by: the `error` of an XRPC answer. */
  readonly code: string
  readonly headers: Readonly<Record<string, string>>
  /** What programs need to know beside: further fields of an XRPC answer, as JSON. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
    this.details = details
  }
}

export function invalidRequest(message: string): HttpError {
  return new HttpError(400, 'InvalidRequest', message)
}

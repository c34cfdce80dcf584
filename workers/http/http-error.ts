/** A request that is answered with an error. Its message is for the client: it says nothing of the inside. */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly status: number
  /** Short name that programs tell errors apart by: the `error` of an XRPC answer. */
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export function invalidRequest(message: string): HttpError {
  return new HttpError(400, 'InvalidRequest', message)
}

import { DrizzleQueryError } from 'drizzle-orm'

/** What D1 says of a statement: it would again. */
const STATEMENT_REFUSED = /SQLITE_(?!BUSY|FULL|IOERR|NOMEM)/
/** What R2 says when it is not well: an internal error, unavailable, disconnected, too many requests. */
const R2_TROUBLE = /\((?:10001|10043|10054|10058)\)$/
const DISCONNECTED = /^Network connection lost/

/**
 * Whether the platform itself says that it may go well another time: of a Durable Object that is overloaded, or was cut
 * off, of D1 where it is not the statement that is wrong, and of R2.
 */
export function isPassingFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { retryable, overloaded, durableObjectReset, message } = error as Error & Record<string, unknown>
  if (retryable === true || overloaded === true || durableObjectReset === true) return true
  if (message.startsWith('D1_')) return !STATEMENT_REFUSED.test(message)
  if (R2_TROUBLE.test(message) || DISCONNECTED.test(message)) return true
  return error instanceof DrizzleQueryError && isPassingFault(error.cause)
}

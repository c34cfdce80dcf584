import { isObject, parseJson } from '../network/json.ts'
import type { PdsError } from './pds-error.ts'

/** What a host's answer that is no success says. The body may be anything: a proxy's page, say. */

/** The lexicon's error is `BlobNotFound`; the reference PDS says it in the message alone. */
export function isBlobNotFound({ status, error, message }: PdsError): boolean {
  return error === 'BlobNotFound' || status === 404 || message.endsWith('Blob not found')
}

/** Longest message of a PDS that is passed on. */
const MAX_MESSAGE = 300
/** What is longer is no error of the protocol's, and is not looked into. UTF-16 units. */
const MAX_BODY = 65_536

/** An error's name and message, both '' where the body is something else: a proxy's page, say. */
export function parseErrorBody(text: string): { error: string; message: string } {
  const body = text.length > MAX_BODY ? null : parseJson(text)
  if (!isObject(body)) return { error: '', message: '' }
  const { error, message } = body
  return {
    error: typeof error === 'string' ? error.slice(0, MAX_MESSAGE) : '',
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : '',
  }
}

/** From `retry-after` (seconds or a date), or on a 429 from `ratelimit-reset`. */
export function retryAfterSeconds(response: Response, now: number): number | null {
  const retryAfter = response.headers.get('retry-after')
  if (retryAfter !== null) {
    const seconds = /^[0-9]+$/.test(retryAfter.trim()) ? Number(retryAfter) : (Date.parse(retryAfter) - now) / 1000
    return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
  }
  const reset = Number(response.headers.get('ratelimit-reset') ?? Number.NaN)
  if (response.status !== 429 || !Number.isFinite(reset)) return null
  return Math.max(0, Math.ceil(reset - now / 1000))
}

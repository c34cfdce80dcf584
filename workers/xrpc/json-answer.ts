import { createHash } from 'node:crypto'
import { conditional, type Validator } from '../http/conditional.ts'

/** Part of entity tags: to be raised when the same content is written as different JSON. */
const WRITING = 1

/** The validator of an answer that depends on one object alone, and on what its URL says. */
export function objectValidator(oid: string, immutable: boolean): Validator {
  return { etag: `"${oid}.${WRITING}"`, immutable }
}

/** Answers JSON that a validator is known of beforehand: a copy that is still good costs no reading. */
export function answerJson(request: Request, validator: Validator, produce: () => Promise<unknown>): Promise<Response> {
  return conditional(request, validator, async () => jsonResponse(JSON.stringify(await produce())))
}

/** Answers JSON with a tag made of the JSON itself. */
export function answerHashedJson(request: Request, value: unknown): Promise<Response> {
  const text = JSON.stringify(value)
  const etag = `"${createHash('sha1').update(text).digest('base64url')}"`
  return conditional(request, { etag, immutable: false }, async () => jsonResponse(text))
}

/** Answers JSON that is for the caller alone: tokens, and what one has done. No cache keeps it. */
export function privateJson(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(value, {
    status,
    headers: { ...headers, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
  })
}

function jsonResponse(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' } })
}

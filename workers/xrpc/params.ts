import { type LexXrpcParameters, ValidationError } from '@atproto/lexicon'
import { invalidRequest } from '../http/http-error.ts'
import { percentDecodeText } from '../http/percent.ts'
import { lexicons } from './lexicons.ts'

/**
 * Reads the parameters of a query from its URL, with defaults filled in, as its lexicon wants them.
 *
 * @throws {@link HttpError} 400, saying which parameter is wrong
 */
export function readParams(nsid: string, search: string): Record<string, unknown> {
  const given = decodeSearch(search)
  const params: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries(describeParams(nsid).properties)) {
    const text = given.get(name)
    if (text !== undefined) params[name] = convert(type, text)
  }
  return checkParams(nsid, params)
}

/** Checks the parameters of a query, and fills in their defaults. @throws {@link HttpError} 400 */
export function checkParams(nsid: string, params: Record<string, unknown>): Record<string, unknown> {
  return asInvalidRequest(() => lexicons.assertValidXrpcParams(nsid, params) ?? {})
}

/** Checks the body of a procedure, and fills in its defaults. @throws {@link HttpError} 400 */
export function checkInput(nsid: string, input: unknown): Record<string, unknown> {
  return asInvalidRequest(() => lexicons.assertValidXrpcInput(nsid, input) as Record<string, unknown>)
}

function asInvalidRequest<T>(validate: () => T): T {
  try {
    return validate()
  } catch (error) {
    if (error instanceof ValidationError) throw invalidRequest(error.message)
    throw error
  }
}

function describeParams(nsid: string): LexXrpcParameters {
  const { parameters } = lexicons.getDefOrThrow(nsid, ['query'])
  return parameters ?? { type: 'params', properties: {} }
}

/** Names and values of a query string, the first of each name. @throws {@link HttpError} 400 for a bad `%` */
function decodeSearch(search: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '') continue
    const [name, value] = splitAt(pair, '=').map((part) => percentDecodeText(part.replaceAll('+', ' '))) as [
      string,
      string,
    ]
    if (!given.has(name)) given.set(name, value)
  }
  return given
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** A value as its type; one that is none stays text, which the lexicon then refuses. */
function convert(type: string, text: string): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

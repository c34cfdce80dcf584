import type { HttpError } from '../../http/http-error.ts'
import { inline } from './markdown.ts'

/** What went wrong, in one line: it holds names that the URL brought, so a link must not make this edge say what it likes. */
export function errorText({ message }: HttpError): string {
  return `${inline(message)}\n`
}

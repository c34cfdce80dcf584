import type { HttpError } from '../../http/http-error.ts'
import { visibleText } from '../render/text.ts'

/** What went wrong, in one line. */
export function errorText({ message }: HttpError): string {
  return `${visibleText(message)}\n`
}

import { invalidRequest } from '../http/http-error.ts'

/** @throws {@link HttpError} 400 */
export function readNumberCursor(text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw invalidRequest('cursor is none that was given out here')
}

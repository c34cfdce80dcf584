import { isOid, type Oid } from '../../git/bytes/oid.ts'
import { invalidRequest } from '../http/http-error.ts'

/** @param field as the error names it. @throws {@link HttpError} 400 */
export function parseOidParam(field: string, text: string): Oid {
  const oid = text.toLowerCase()
  if (isOid(oid)) return oid
  throw invalidRequest(`${field} must be an object id of 40 hexadecimal digits`)
}

import { isOid, OID_BYTES, type Oid } from '../bytes/oid.ts'
import { ProtocolError } from './protocol-error.ts'

const HEX_LENGTH = OID_BYTES * 2

/** The object id that `text` is. @throws {@link ProtocolError} naming `what` it was to be. */
export function expectOid(text: string | null, what: string): Oid {
  const given = text ?? ''
  const oid = given.toLowerCase()
  if (isOid(oid)) return oid
  throw new ProtocolError(`expected an object id after '${what}', got '${given.slice(0, HEX_LENGTH)}'`)
}

/** Cuts `line` at its first space: the keyword, and what follows it, or null if nothing does. */
export function splitKeyword(line: string): [keyword: string, value: string | null] {
  const space = line.indexOf(' ')
  return space < 0 ? [line, null] : [line.slice(0, space), line.slice(space + 1)]
}

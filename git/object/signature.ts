import { checkText, FieldError } from './field-error.ts'

/** Who did something and when: an author, committer or tagger line after its key. */
export interface Signature {
  /** Without the spaces around it. */
  readonly name: Uint8Array
  readonly email: Uint8Array
  /** Seconds since 1970, or null where the line has no date that can be read. */
  readonly time: number | null
  /** As written, mostly `+hhmm`; odd ones (`--700`, `+051800`) and none (empty) occur. */
  readonly zone: string
}

const LESS_THAN = 0x3c
const GREATER_THAN = 0x3e
const NOTHING = new Uint8Array(0)
/** ECMAScript dates end here, in seconds. */
const LATEST_TIME = 8.64e12

/**
 * Reads a line `Name <mail> seconds zone` as far as it goes. The date stands after the last `>`, so that a broken
 * address does not hide it; as in git's own `split_ident_line`.
 */
export function parseSignature(line: Uint8Array): Signature {
  const mailStart = line.indexOf(LESS_THAN)
  if (mailStart === -1) return { name: trim(line), email: NOTHING, time: null, zone: '' }
  const mailEnd = line.indexOf(GREATER_THAN, mailStart)
  const name = trim(line.subarray(0, mailStart))
  if (mailEnd === -1) return { name, email: line.subarray(mailStart + 1), time: null, zone: '' }
  const email = line.subarray(mailStart + 1, mailEnd)
  const date = latin1(line.subarray(line.lastIndexOf(GREATER_THAN) + 1))
  const match = /^\s*(\d+)(?:\s+(\S+))?/.exec(date)
  const time = match === null ? null : Number(match[1])
  return { name, email, time: time !== null && time <= LATEST_TIME ? time : null, zone: match?.[2] ?? '' }
}

/** Minutes east of UTC of a zone `+hhmm`, or 0 where it is none: git falls back to UTC too. */
export function zoneMinutes(zone: string): number {
  const match = /^([+-])(\d\d)(\d\d)$/.exec(zone)
  if (match === null) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return match[1] === '-' ? -minutes : minutes
}

/** Whom to name as the author, committer or tagger, and when. */
export interface Person {
  readonly name: string
  /** May be empty. */
  readonly email: string
  /** Seconds since 1970. */
  readonly time: number
  /** Minutes east of UTC. */
  readonly zone: number
}

/** Zones are written in four digits. */
const ZONE_LIMIT = 100 * 60

/**
 * The line of an author, committer or tagger after its key. Spaces around the name and the address fall away.
 *
 * @param role as errors name it, `author`
 * @throws {@link FieldError} for what `git fsck` would not take
 */
export function serializeSignature({ name, email, time, zone }: Person, role: string): string {
  for (const [field, value] of [
    ['name', name],
    ['email', email],
  ] as const) {
    checkText(value, `the ${role}'s ${field}`)
    if (/[<>\n]/.test(value)) throw new FieldError(`the ${role}'s ${field} must not hold <, > or a line break`)
  }
  if (name.trim() === '') throw new FieldError(`the ${role} needs a name`)
  if (!Number.isInteger(time) || time < 0 || time > LATEST_TIME) {
    throw new FieldError(`the ${role}'s time must be whole seconds from 0 to ${LATEST_TIME}`)
  }
  if (!Number.isInteger(zone) || Math.abs(zone) >= ZONE_LIMIT) {
    throw new FieldError(`the ${role}'s zone must be whole minutes, less than 100 hours`)
  }
  return `${name.trim()} <${email.trim()}> ${time} ${formatZone(zone)}`
}

function formatZone(zone: number): string {
  const minutes = Math.abs(zone)
  const digits = (value: number) => String(value).padStart(2, '0')
  return `${zone < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}${digits(minutes % 60)}`
}

function trim(bytes: Uint8Array): Uint8Array {
  let start = 0
  let end = bytes.length
  while (start < end && isSpace(bytes[start]!)) start++
  while (end > start && isSpace(bytes[end - 1]!)) end--
  return bytes.subarray(start, end)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length && i < 64; i++) text += String.fromCharCode(bytes[i]!)
  return text
}

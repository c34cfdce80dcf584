/**
 * TIDs: 13 characters of sortable base32 that hold 53 bits of microseconds since 1970 and a 10-bit clock id. They sort
 * as strings by time. https://atproto.com/specs/tid
 */

const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz'
const TID_PATTERN = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/
const TIME_LENGTH = 11
const CLOCK_IDS = 1024

/** How far the clocks of two writers may be apart, and with them the order of their TIDs. Milliseconds. */
export const CLOCK_SKEW = 10 * 60_000

export function isTid(text: string): boolean {
  return TID_PATTERN.test(text)
}

/** The TID of a time in microseconds since 1970 and a clock id below 1,024. */
export function tidFromTime(microseconds: number, clockId: number): string {
  return encode(microseconds, TIME_LENGTH) + encode(clockId, 2)
}

/** Microseconds since 1970. */
export function tidTime(tid: string): number {
  let time = 0
  for (const character of tid.slice(0, TIME_LENGTH)) time = time * 32 + ALPHABET.indexOf(character)
  return time
}

/** The smallest TID of a time that is so many milliseconds before that of `tid`. */
export function tidBefore(tid: string, milliseconds: number): string {
  return tidFromTime(Math.max(0, tidTime(tid) - milliseconds * 1000), 0)
}

/** A source of TIDs that only grow, also where the clock stands still, as it does in a Worker between two awaits. */
export class TidClock {
  readonly #now: () => number
  readonly #clockId: number
  #last = 0

  /**
   * @param now milliseconds since 1970
   * @param clockId keeps two writers apart that ask in the same microsecond
   */
  constructor(now: () => number = Date.now, clockId: number = Math.floor(Math.random() * CLOCK_IDS)) {
    this.#now = now
    this.#clockId = clockId
  }

  /** @param after a TID that the new one must be larger than: that of another writer, whose clock may be ahead */
  next(after?: string): string {
    this.#last = Math.max(this.#now() * 1000, this.#last + 1, after === undefined ? 0 : tidTime(after) + 1)
    return tidFromTime(this.#last, this.#clockId)
  }
}

/** Numbers here exceed 32 bits: no bit operators. */
function encode(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32]! + text
  return text
}

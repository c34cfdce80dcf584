import type { Oid } from '../bytes/oid.ts'
import type { ObjectFilter } from '../walk/object-filter.ts'
import { parseFilterSpec } from './filter-spec.ts'
import { expectOid, splitKeyword } from './oid-line.ts'
import { ProtocolError } from './protocol-error.ts'

/** What a client says of shallow and partial history, in every version of the protocol. */
export interface Deepen {
  /** Commits whose parents the client does not have. */
  readonly shallow: readonly Oid[]
  /** Commits from each tip, or null; {@link INFINITE_DEPTH} is all of it. */
  readonly depth: number | null
  /** Whether `depth` counts from the client's boundary. */
  readonly relative: boolean
  /** Seconds since 1970, or null. */
  readonly since: number | null
  /** Refs whose history is left out. */
  readonly not: readonly string[]
  readonly filter: ObjectFilter | null
}

/** Refs whose history is left out, at most: each is looked for among all refs. */
const DEEPEN_NOT_LIMIT = 1000

/** What clients send to be shallow no more. */
export const INFINITE_DEPTH = 0x7fffffff

/** Whether the ends of the client's history are to move. */
export function isDeepening({ depth, since, not }: Deepen): boolean {
  return depth !== null || since !== null || not.length > 0
}

/** Whether the ends of the client's history are spoken of at all: it has some, or is to have others. */
export function speaksOfEnds(deepen: Deepen): boolean {
  return isDeepening(deepen) || deepen.shallow.length > 0
}

/** Collects the lines that make a {@link Deepen}. */
export class DeepenReader {
  readonly #shallow: Oid[] = []
  readonly #not: string[] = []
  #depth: number | null = null
  #since: number | null = null
  #filter: ObjectFilter | null = null

  /** Takes one line. @returns false if it is about something else. @throws {@link ProtocolError} */
  take(line: string): boolean {
    const [keyword, value] = splitKeyword(line)
    switch (keyword) {
      case 'shallow':
        this.#shallow.push(expectOid(value, keyword))
        return true
      case 'deepen':
        this.#depth = expectPositive(value, line)
        return true
      case 'deepen-since':
        this.#since = expectPositive(value, line)
        return true
      case 'deepen-not':
        if (this.#not.length === DEEPEN_NOT_LIMIT) throw new ProtocolError(`more than ${DEEPEN_NOT_LIMIT} deepen-not`)
        this.#not.push(value ?? '')
        return true
      case 'filter':
        if (this.#filter !== null) throw new ProtocolError('more than one filter')
        this.#filter = parseFilterSpec(value ?? '')
        return true
      default:
        return false
    }
  }

  /**
   * @param relative whether the client has asked for `deepen-relative`: a line of its own in v2, a capability before
   * @throws {@link ProtocolError} if the lines contradict each other.
   */
  finish(relative: boolean): Deepen {
    if (this.#depth !== null && (this.#since !== null || this.#not.length > 0)) {
      throw new ProtocolError('deepen and deepen-since (or deepen-not) cannot be used together')
    }
    return {
      shallow: this.#shallow,
      depth: this.#depth,
      relative,
      since: this.#since,
      not: this.#not,
      filter: this.#filter,
    }
  }
}

function expectPositive(text: string | null, line: string): number {
  const value = text !== null && /^\d+$/.test(text) ? Number(text) : 0
  if (value <= 0 || !Number.isSafeInteger(value)) throw new ProtocolError(`invalid ${line}`)
  return value
}

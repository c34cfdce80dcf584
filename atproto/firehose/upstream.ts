import { refuseUrl } from '../network/host-refusal.ts'

/**
 * - `repos`: `com.atproto.sync.subscribeRepos` of a PDS or relay. Cursors are sequence numbers; what comes next is after them.
 * - `jetstream`: Jetstream's `/subscribe`. Cursors are microseconds since 1970.
 * - `jetstream-v2`: `network.bsky.jetstream.subscribeEvents`. Cursors are sequence numbers, of which the event itself comes
 *   again; one of 10^15 and more is a time in microseconds.
 */
export type Protocol = 'repos' | 'jetstream' | 'jetstream-v2'

/** Where events come from. */
export interface Upstream {
  /** Its URL, as it is configured: also the name of its `Firehose` object. */
  readonly name: string
  readonly protocol: Protocol
  /** Origin of the host, with `https:` or `http:`. */
  readonly origin: string
  /** Where to begin the first time, by the URL's own `cursor`; null: at what happens now. */
  readonly beginAt: number | null
}

/** An URL that is none of an upstream. */
export class InvalidUpstreamError extends Error {
  override name = 'InvalidUpstreamError'
}

const PATHS: readonly (readonly [string, Protocol])[] = [
  ['/xrpc/com.atproto.sync.subscribeRepos', 'repos'],
  ['/xrpc/network.bsky.jetstream.subscribeEvents', 'jetstream-v2'],
  ['/subscribe', 'jetstream'],
]

/** What is asked of a Jetstream: the pattern that both versions take. */
const WANTED_COLLECTIONS = 'dev.skein.*'
/** Jetstream v2 takes a cursor of this and more for a time in microseconds. */
const TIME_CURSOR = 1e15
/** Jetstream drops and reorders events where it goes over from what was to what is: so much is read again. Microseconds. */
const REWIND_MICROSECONDS = 5_000_000
/** The same in numbers of the whole network's events, of which nearly none is wanted here. */
const REWIND_EVENTS = 1000

/**
 * @param allowPrivateHosts for local use: `ws:` and private addresses
 * @throws {@link InvalidUpstreamError}
 */
export function parseUpstream(text: string, allowPrivateHosts: boolean): Upstream {
  const url = URL.parse(text.replace(/^ws(s?):/, 'http$1:'))
  if (url === null) throw new InvalidUpstreamError(`${JSON.stringify(text)} is no URL`)
  const protocol = PATHS.find(([path]) => url.pathname === path)?.[1]
  if (protocol === undefined) {
    const paths = PATHS.map(([path]) => path).join(', ')
    throw new InvalidUpstreamError(`the path of ${JSON.stringify(text)} is none of ${paths}`)
  }
  const refusal = refuseUrl(url, allowPrivateHosts)
  if (refusal !== null) throw new InvalidUpstreamError(`${JSON.stringify(text)} ${refusal}`)
  const cursor = url.searchParams.get('cursor')
  if (cursor !== null && !/^[0-9]{1,16}$/.test(cursor))
    throw new InvalidUpstreamError(`the cursor of ${JSON.stringify(text)} is no number`)
  return { name: text, protocol, origin: url.origin, beginAt: cursor === null ? null : Number(cursor) }
}

/** The address of a subscription, with `https:` or `http:`: a request that is upgraded. @param cursor null: what happens now */
export function subscriptionUrl({ protocol, origin }: Upstream, cursor: number | null): string {
  const [path] = PATHS.find(([, spoken]) => spoken === protocol)!
  const url = new URL(path, origin)
  if (protocol === 'jetstream') url.searchParams.set('wantedCollections', WANTED_COLLECTIONS)
  if (protocol === 'jetstream-v2') url.searchParams.set('collections', WANTED_COLLECTIONS)
  if (cursor !== null) url.searchParams.set('cursor', String(cursor))
  return url.href
}

/**
 * The cursor of whoever has none: null with `repos`, which has no cursor for now. What has happened by then is not
 * told in either case.
 *
 * @param now milliseconds since 1970
 */
export function cursorOfNow(protocol: Protocol, now: number): number | null {
  return protocol === 'repos' ? null : now * 1000 - REWIND_MICROSECONDS
}

/** A little before a cursor; with `repos`, whose cursors are exact, the same. */
export function rewound(protocol: Protocol, cursor: number): number {
  if (protocol === 'repos') return cursor
  const isTime = protocol === 'jetstream' || isTimeCursor(protocol, cursor)
  return Math.max(0, cursor - (isTime ? REWIND_MICROSECONDS : REWIND_EVENTS))
}

/** The later of two places in a stream, whose events may come again, or in a slightly other order. */
export function laterCursor(protocol: Protocol, known: number | null, seen: number): number {
  // A time is where a v2 stream is begun, and numbers are where it goes on.
  if (known === null || (isTimeCursor(protocol, known) && !isTimeCursor(protocol, seen))) return seen
  return Math.max(known, seen)
}

function isTimeCursor(protocol: Protocol, cursor: number): boolean {
  return protocol === 'jetstream-v2' && cursor >= TIME_CURSOR
}

/** Jetstream v1 keeps a day and more. A first event that is so much later than what was asked for says nothing else. */
const SILENT_GAP_MICROSECONDS = 60 * 60 * 1_000_000

/**
 * Whether a stream goes on later than it was asked to, without a word: only Jetstream v1 does that. A stream on which nothing
 * happens for an hour looks the same.
 *
 * @param asked the cursor of the subscription
 * @param first that of its first event
 */
export function isClamped(protocol: Protocol, asked: number | null, first: number): boolean {
  return protocol === 'jetstream' && asked !== null && first - asked > SILENT_GAP_MICROSECONDS
}

/**
 * What a notice, an error in the stream, or a refusal to subscribe says of the cursor.
 *
 * - `outdated`: the stream goes on, but not from there: what lies between is not told.
 * - `refused`: the same, and the stream does not begin at all.
 * - `future`: it is none of this stream, which has begun anew.
 */
export type CursorTrouble = 'outdated' | 'refused' | 'future'

/** @param name of the notice or error; null: it is about something else */
export function cursorTrouble(name: string): CursorTrouble | null {
  if (name === 'OutdatedCursor') return 'outdated'
  if (name === 'CursorTooOld') return 'refused'
  return name === 'FutureCursor' ? 'future' : null
}

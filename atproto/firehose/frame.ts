import type { StreamEvent } from './stream-event.ts'

/** What one message of an upstream says. */
export type Frame = EventsFrame | NoticeFrame | ErrorFrame | UnreadableFrame

/** Something has happened. There are no events where it is nothing that is wanted. */
export interface EventsFrame {
  readonly kind: 'events'
  /** See `StreamEvent`. */
  readonly cursor: number
  /** Milliseconds since 1970. */
  readonly time: number
  readonly events: readonly StreamEvent[]
  /** By what records that an account is said to have can be checked; null: nothing. */
  readonly commit: CommitBlocks | null
  /** Records left out: their collection or key can be none. */
  readonly dropped: number
  /** What of it is held in memory: values of records, and blocks. Some 60 bytes each. */
  readonly values: number
}

/** What the upstream says of the stream itself. */
export interface NoticeFrame {
  readonly kind: 'notice'
  /** `OutdatedCursor`, `FutureCursor` or another. */
  readonly name: string
  readonly message: string
}

/** The last message of a stream. */
export interface ErrorFrame {
  readonly kind: 'error'
  readonly name: string
  readonly message: string
}

/** A message that nothing can be made of. */
export interface UnreadableFrame {
  readonly kind: 'unreadable'
  readonly reason: string
}

/** The blocks of a commit that came with it. Whether they are what their CIDs say is not checked yet. */
export interface CommitBlocks {
  readonly did: string
  readonly rev: string
  /** CID of the commit. */
  readonly cid: string
  readonly blocks: ReadonlyMap<string, Uint8Array>
  /** By path, the CID of the record that the upstream says it has brought; null: it was deleted. */
  readonly claims: ReadonlyMap<string, string | null>
}

export function unreadable(reason: unknown): UnreadableFrame {
  return { kind: 'unreadable', reason: reason instanceof Error ? reason.message : String(reason) }
}

/** Upstreams' messages have at most 5 MB. https://atproto.com/specs/sync#firehose */
export const MAX_FRAME_BYTES = 6_000_000

/** Values that one message may hold. A commit of 200 operations has some thousand, and then there are its records. */
export const MAX_FRAME_VALUES = 100_000

/** Where a message stands in its stream; null: it can be none. */
export function readCursor(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null
}

/** Milliseconds since 1970. @param otherwise what is taken for a time that is none */
export function readTime(value: unknown, otherwise: number): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(time) ? time : otherwise
}

export function readText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : ''
}

/** What an upstream writes for a human reader ends in logs. Characters. */
const MAX_TEXT = 300

import type { RecordEvent, StreamEvent } from '../../atproto/firehose/stream-event.ts'
import { isObject } from '../../atproto/network/json.ts'
import { INLINE_PACK_LIMIT, PACK_COLLECTION } from '../../atproto/records/collections.ts'

/** Base64 of the largest pack that a record may hold, padded. Characters. */
const MAX_TEXT = Math.ceil(INLINE_PACK_LIMIT / 3) * 4
/** Everything that is parked lies here. */
const PARKED_PREFIX = 'events/'
/** A message is kept by its Queue for four days at most, and then nobody comes for what it names. Milliseconds. */
const PARKED_FOR = 5 * 24 * 60 * 60_000

/** A pack that is to be laid into R2 before its event is sent. */
export interface ParkedPack {
  readonly key: string
  readonly bytes: Uint8Array
}

/**
 * Takes the bytes out of a pack's record: a message of a Queue has no room for them. Of a pack that is larger than records may hold
 * nothing is taken: its event is too large, or its record is invalid. What is not proven is not parked.
 *
 * @returns the event as it is sent, and what is to be parked before
 */
export function takePack(event: StreamEvent): { event: StreamEvent; pack: ParkedPack | null } {
  const bytes = event.kind === 'record' && event.collection === PACK_COLLECTION ? packBytes(event.value) : null
  if (event.kind !== 'record' || bytes === null) return { event, pack: null }
  const { bytes: _, ...rest } = event.value as Record<string, unknown>
  if (!event.isProven) return { event: { ...event, value: rest, parked: null }, pack: null }
  const key = parkedKey(event)
  return { event: { ...event, value: rest, parked: key }, pack: { key, bytes } }
}

/** Null: there are none, or so many that they stay. */
function packBytes(value: unknown): Uint8Array | null {
  if (!isObject(value) || !isObject(value.bytes) || typeof value.bytes.$bytes !== 'string') return null
  const text = value.bytes.$bytes
  return text.length > MAX_TEXT ? null : Buffer.from(text, 'base64')
}

/** The rev is part of it: a record can be written anew while its first event is on its way. */
function parkedKey({ did, rkey, rev }: RecordEvent): string {
  return `${PARKED_PREFIX}${did}/${rkey}/${rev}`
}

/** Lays it into R2; it is nothing new where it lies there already. */
export async function parkPack(bucket: R2Bucket, { key, bytes }: ParkedPack): Promise<void> {
  await bucket.put(key, bytes, { onlyIf: { etagDoesNotMatch: '*' } })
}

/** Deletes what nobody has come for. @returns how many objects it was */
export async function sweepParked(bucket: R2Bucket, now: number): Promise<number> {
  let deleted = 0
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: R2Objects = await bucket.list({ prefix: PARKED_PREFIX, ...(cursor === '' ? {} : { cursor }) })
    const old = page.objects.filter(({ uploaded }) => now - uploaded.getTime() > PARKED_FOR).map(({ key }) => key)
    if (old.length > 0) await bucket.delete(old)
    deleted += old.length
    cursor = page.truncated ? page.cursor : null
  }
  return deleted
}

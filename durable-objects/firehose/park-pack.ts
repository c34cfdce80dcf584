import type { RecordEvent, StreamEvent } from '../../atproto/firehose/stream-event.ts'
import { isObject } from '../../atproto/network/json.ts'
import { INLINE_PACK_LIMIT, PACK_COLLECTION } from '../../atproto/records/collections.ts'
import { parsePackKey } from '../../atproto/records/record-keys.ts'
import type { RepositoryKey } from '../../storage/repository-key.ts'

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
 * The repositories that events bring proven packs of. Of those alone that have a mirror are packs parked: whoever mirrors another
 * one reads its account.
 */
export function repositoriesOfPacks(events: readonly StreamEvent[]): RepositoryKey[] {
  return events.flatMap((event) => {
    const rkey = isPack(event) && event.isProven ? parsePackKey(event.rkey)?.repo : undefined
    return rkey === undefined ? [] : [{ did: event.did, rkey }]
  })
}

/**
 * Takes the bytes out of a pack's record: a message of a Queue has no room for them. Of a pack that is larger than records may hold
 * nothing is taken: its event is too large, or its record is invalid. What is not proven is not parked.
 *
 * @param isMirrored whether anybody here could use the pack
 * @returns the event as it is sent, and what is to be parked before
 */
export function takePack(
  event: StreamEvent,
  isMirrored: (repository: RepositoryKey) => boolean,
): { event: StreamEvent; pack: ParkedPack | null } {
  const text = isPack(event) ? packText(event.value) : null
  if (text === null || !isPack(event)) return { event, pack: null }
  const { bytes: _, ...rest } = event.value as Record<string, unknown>
  const rkey = parsePackKey(event.rkey)?.repo
  if (!event.isProven || rkey === undefined || !isMirrored({ did: event.did, rkey }))
    return { event: { ...event, value: rest, parked: null }, pack: null }
  const key = parkedKey(event)
  return { event: { ...event, value: rest, parked: key }, pack: { key, bytes: Buffer.from(text, 'base64') } }
}

function isPack(event: StreamEvent): event is RecordEvent {
  return event.kind === 'record' && event.collection === PACK_COLLECTION
}

/** Base64. Null: there is none, or so much that it stays. */
function packText(value: unknown): string | null {
  if (!isObject(value) || !isObject(value.bytes) || typeof value.bytes.$bytes !== 'string') return null
  const text = value.bytes.$bytes
  return text.length > MAX_TEXT ? null : text
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

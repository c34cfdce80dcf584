import { decodeFrame } from '../../../atproto/firehose/decode-frame.ts'
import type { RecordEvent, StreamEvent } from '../../../atproto/firehose/stream-event.ts'
import {
  PACK_COLLECTION,
  REF_COLLECTION,
  REFS_COLLECTION,
  REPO_COLLECTION,
} from '../../../atproto/records/collections.ts'
import type { Account } from '../../../dev/atmosphere.ts'
import type { World } from '../harness.ts'

/** What accounts say themselves, by `listRecords`: which rows the index must have, and no others. */
export async function listedRows(world: World, accounts: readonly Account[]) {
  const keys = async (collection: string) => {
    const all = await Promise.all(
      accounts.map(async (account) => (await world.records(account, collection)).map(({ uri }) => uri)),
    )
    return all
      .flat()
      .map((uri) => uri.replace(/^at:\/\/([^/]+)\/[^/]+\//, '$1 '))
      .sort()
  }
  const names = await Promise.all(
    accounts.map(async (account) =>
      (await world.records(account, REPO_COLLECTION)).map(
        ({ uri, value }) => `${account.did} ${uri.split('/').at(-1)} ${value.name} ${value.description ?? ''}`,
      ),
    ),
  )
  const refs = await keys(REF_COLLECTION)
  const shards: string[] = []
  for (const account of accounts) {
    for (const { uri, value } of await world.records(account, REFS_COLLECTION)) {
      // One without entries says nothing of a push.
      if ((value.entries as unknown[]).length > 0) shards.push(`${account.did} ${uri.split('/').at(-1)}`)
    }
  }
  return { repositories: names.flat().sort(), packs: await keys(PACK_COLLECTION), pushes: [...refs, ...shards].sort() }
}

/** The same as the index has it. */
export async function indexedRows(db: D1Database) {
  const keys = async (table: string) => {
    const { results } = await db
      .prepare(`select did || ' ' || rkey as key from ${table} order by 1`)
      .all<{ key: string }>()
    return results.map(({ key }) => key).sort()
  }
  const { results } = await db
    .prepare(
      "select did || ' ' || rkey || ' ' || name || ' ' || coalesce(record->>'description', '') as row from repositories",
    )
    .all<{ row: string }>()
  return {
    repositories: results.map(({ row }) => row).sort(),
    packs: await keys('packs'),
    pushes: await keys('pushes'),
  }
}

/** All that the PDS has told since its beginning, as it is believed of the accounts' own, without what was in packs. */
export async function allEvents({ atmosphere }: World): Promise<StreamEvent[]> {
  const socket = new WebSocket(atmosphere.streamUrl(0))
  socket.binaryType = 'arraybuffer'
  const events: StreamEvent[] = []
  await new Promise<void>((resolve, reject) => {
    let quiet = setTimeout(resolve, 5_000)
    socket.addEventListener('error', () => reject(new Error('the stream failed')))
    socket.addEventListener('message', ({ data }) => {
      const frame = decodeFrame('repos', data as ArrayBuffer, Date.now())
      if (frame.kind === 'events') events.push(...frame.events)
      clearTimeout(quiet)
      quiet = setTimeout(resolve, 1_000)
    })
  })
  socket.close()
  return events.map((event) => (event.kind === 'record' ? withoutBytes({ ...event, isProven: true }) : event))
}

function withoutBytes(event: RecordEvent): RecordEvent {
  if (event.collection !== PACK_COLLECTION || event.value === null) return event
  const { bytes, ...value } = event.value as Record<string, unknown>
  return bytes === undefined ? event : { ...event, value, parked: 'events/none' }
}

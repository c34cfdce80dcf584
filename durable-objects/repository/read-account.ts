import { readRepository } from '../../atproto/account/read-repository.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { packKey, parsePackKey } from '../../atproto/records/record-keys.ts'
import type { PackRecord } from '../../atproto/records/record-types.ts'
import { tidBefore } from '../../atproto/records/tid.ts'
import type { MirrorStore, PackSource } from '../../storage/mirror/mirror-store.ts'
import type { RepositoryAddress } from './answers.ts'

/** How far the clocks of two writers may be apart, in milliseconds. */
const CLOCK_SKEW = 10 * 60_000

export interface ReadAccountDeps {
  readonly store: MirrorStore
  readonly client: PdsClient
  /** Keeps the bytes of a pack that its record holds inline, before its row says that they are wanted. */
  keepInlinePack(id: string, bytes: Uint8Array): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
  /** Milliseconds since 1970. */
  now(): number
}

export type ReadAccountOutcome =
  | { readonly state: 'read' }
  | { readonly state: 'gone' }
  | { readonly state: 'unavailable'; readonly message: string; readonly retryAfterSeconds: number | null }

/**
 * Brings a mirror's rows up to what the account says now: refs moved forward, new packs wanted, packs that the
 * account has dropped gone. Safe to repeat, and to run beside a push.
 *
 * @param lost ids of the mirror's packs whose files are gone: what they hold is wanted again, where the account still
 *   has it
 */
export async function readAccount(
  deps: ReadAccountDeps,
  address: RepositoryAddress,
  lost: readonly string[] = [],
): Promise<ReadAccountOutcome> {
  const { store, client } = deps
  const { did, rkey, pds } = address
  try {
    const isWhole = lost.length > 0
    const lostParts = new Set(store.accountPacks(lost))
    const stored = await (isWhole ? readRepository(client, did, rkey) : readWhatIsNew(store, client, did, rkey))
    if (stored === null) return { state: 'gone' }
    for (const { uri, reason } of stored.skipped) deps.log('record-skipped', { uri, reason })
    store.setHead({ did, rkey, pds, record: stored.repo, head: stored.head, checkedAt: deps.now() })
    for (const { rkey: key, record } of stored.packs) {
      const id = parsePackKey(key)!.tid
      if (store.hasPack(id) && !lostParts.has(id)) continue
      if (record.bytes) await deps.keepInlinePack(id, record.bytes)
      const pack = { id, size: record.size, objects: record.objects }
      if (lostParts.has(id)) store.wantAgain(pack, packSource(record))
      else store.wantPack(pack, packSource(record))
    }
    const listed = new Set(stored.packs.map(({ rkey: key }) => parsePackKey(key)!.tid))
    store.removePacks(lost.filter((id) => !listed.has(id)))
    store.advanceRefs(stored.refs.values(), 'unchecked')
    return { state: 'read' }
  } catch (error) {
    if (!(error instanceof PdsUnreachableError || error instanceof PdsError)) throw error
    deps.log('account-unavailable', { did, rkey, reason: error.message })
    const retryAfterSeconds = error instanceof PdsError ? error.retryAfter : null
    return { state: 'unavailable', message: error.message, retryAfterSeconds }
  }
}

/**
 * All refs, and the packs that are newer than what the mirror has: records hold small packs whole, so a list of all of
 * them is long. Keys are times, and clocks differ; so some minutes are listed again, and all where a ref names a pack
 * that has not turned up.
 */
async function readWhatIsNew(store: MirrorStore, client: PdsClient, did: string, rkey: string) {
  const newest = store.newestPack()
  if (newest === null) return readRepository(client, did, rkey)
  const since = packKey(rkey, tidBefore(newest, CLOCK_SKEW))
  const stored = await readRepository(client, did, rkey, since)
  if (stored === null) return null
  const listed = new Set(stored.packs.map((pack) => pack.rkey))
  for (const { pack, target } of stored.refs.values()) {
    if (target === null || pack === null || listed.has(pack)) continue
    if (!store.hasPack(parsePackKey(pack)?.tid ?? '')) return readRepository(client, did, rkey)
  }
  return stored
}

function packSource({ bytes, parts, replaces }: PackRecord): PackSource {
  return {
    blobs: bytes ? null : (parts ?? []).map((part) => ({ cid: part.ref.$link, size: part.size })),
    replaces: (replaces ?? []).flatMap((key) => parsePackKey(key)?.tid ?? []),
  }
}

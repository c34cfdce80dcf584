import { readRepository } from '../../atproto/account/read-repository.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { parsePackKey } from '../../atproto/records/record-keys.ts'
import type { PackRecord } from '../../atproto/records/record-types.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import type { RepositoryAddress } from './answers.ts'

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
 */
export async function readAccount(deps: ReadAccountDeps, address: RepositoryAddress): Promise<ReadAccountOutcome> {
  const { store, client } = deps
  const { did, rkey, pds } = address
  let stored: Awaited<ReturnType<typeof readRepository>>
  try {
    stored = await readRepository(client, did, rkey)
  } catch (error) {
    if (error instanceof PdsUnreachableError || error instanceof PdsError) {
      const retryAfterSeconds = error instanceof PdsError ? error.retryAfter : null
      deps.log('account-unavailable', { did, rkey, reason: error.message })
      return { state: 'unavailable', message: error.message, retryAfterSeconds }
    }
    throw error
  }
  if (stored === null) return { state: 'gone' }
  for (const { uri, reason } of stored.skipped) deps.log('record-skipped', { uri, reason })
  store.setHead({ did, rkey, pds, record: stored.repo, head: stored.head, checkedAt: deps.now() })
  for (const { rkey: key, record } of stored.packs) {
    const id = parsePackKey(key)!.tid
    if (store.hasPack(id)) continue
    if (record.bytes) await deps.keepInlinePack(id, record.bytes)
    store.wantPack({ id, size: record.size, objects: record.objects }, JSON.stringify(packSource(record)))
  }
  store.advanceRefs(stored.refs.values())
  return { state: 'read' }
}

/** Where a wanted pack's bytes are: blobs of the account, or R2 already. */
export type PackSource = { readonly blobs: readonly { readonly cid: string; readonly size: number }[] } | 'kept'

function packSource(record: PackRecord): PackSource {
  if (record.bytes) return 'kept'
  return { blobs: (record.parts ?? []).map((part) => ({ cid: part.ref.$link, size: part.size })) }
}

import { readRepository, type StoredRepository } from '../../atproto/account/read-repository.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../atproto/pds/pds-error.ts'
import { packKey } from '../../atproto/records/record-keys.ts'
import { CLOCK_SKEW, tidBefore } from '../../atproto/records/tid.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import type { ReadAccountOutcome, RepositoryAddress } from './answers.ts'
import { isNeeded, packId, packSource } from './pack-source.ts'

export interface ReadAccountDeps {
  readonly store: MirrorStore
  readonly client: PdsClient
  /** Keeps the bytes of a pack that its record holds inline, before its row says that they are wanted. */
  keepInlinePack(id: string, bytes: Uint8Array): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
  /** Milliseconds since 1970. */
  now(): number
}

/** What of an account's packs is listed: those that may be news, or all of them. */
export type ReadRange = 'newer' | 'all'

/**
 * Brings a mirror's rows up to what the account says now: refs moved forward, new packs wanted; where all is listed,
 * wanted packs that the account has no more are given up. Safe to repeat, and to run beside a push.
 *
 * @param lost ids of packs whose files are gone: they are wanted again, where the account still has them. Goes with `all`
 */
export async function readAccount(
  deps: ReadAccountDeps,
  address: RepositoryAddress,
  range: ReadRange,
  lost: ReadonlySet<string> = NONE,
): Promise<ReadAccountOutcome> {
  const { did, rkey } = address
  try {
    const reading = await readWhatIsNew(deps, address, range, lost)
    if (reading === null) return { state: 'gone' }
    for (const { uri, reason } of reading.stored.skipped) deps.log('record-skipped', { uri, reason })
    takeOver(deps, address, reading, lost)
    return { state: 'read' }
  } catch (error) {
    if (!(error instanceof PdsUnreachableError || error instanceof PdsError)) throw error
    deps.log('account-unavailable', { did, rkey, reason: error.message })
    const retryAfterSeconds = error instanceof PdsError ? error.retryAfter : null
    return { state: 'unavailable', message: error.message, retryAfterSeconds }
  }
}

const NONE: ReadonlySet<string> = new Set()

interface Reading {
  readonly stored: StoredRepository
  readonly isWhole: boolean
  /** See {@link MirrorStore.timesHeard}. */
  readonly heard: number
}

/** All rows at once: a reader who comes while bytes are being kept must not find refs without their packs, or no refs. */
function takeOver(
  { store, now }: ReadAccountDeps,
  address: RepositoryAddress,
  { stored, isWhole, heard }: Reading,
  lost: ReadonlySet<string>,
): void {
  const { did, rkey, pds } = address
  store.setHead({ did, rkey, pds, record: stored.repo, head: stored.head, checkedAt: now() })
  const listed = new Set<string>()
  for (const pack of stored.packs) {
    const id = packId(pack.rkey)
    listed.add(id)
    const { size, objects } = pack.record
    if (lost.has(id)) store.wantAgain({ id, size, objects }, packSource(id, pack.record))
    else store.wantPack({ id, size, objects }, packSource(id, pack.record))
  }
  if (isWhole) {
    const wanted = store.packs('wanted').map(({ id }) => id)
    const unheardOf = namedPacks(stored).filter((id) => store.packState(id) === null)
    store.markGone([...lost, ...wanted, ...unheardOf].filter((id) => !listed.has(id)))
    store.noteListed(heard)
  }
  store.advanceRefs(stored.refs.values(), 'unchecked')
}

/**
 * All refs, and the packs that are newer than what the mirror has: records hold small packs whole, so a list of all of
 * them is long. Keys are times, and clocks differ; so some minutes are listed again, and all where a ref names a pack
 * that has not turned up.
 */
async function readWhatIsNew(
  deps: ReadAccountDeps,
  { did, rkey }: RepositoryAddress,
  range: ReadRange,
  lost: ReadonlySet<string>,
): Promise<Reading | null> {
  const { store, client } = deps
  const takeBytes = async (key: string, bytes: Uint8Array) => {
    const id = packId(key)
    if (lost.has(id) || isNeeded(store.packState(id))) await deps.keepInlinePack(id, bytes)
  }
  const heard = store.timesHeard()
  const newest = range === 'all' ? null : store.newestPack()
  if (newest !== null) {
    const since = packKey(rkey, tidBefore(newest, CLOCK_SKEW))
    const stored = await readRepository(client, did, rkey, { since, takeBytes })
    if (stored === null) return null
    const listed = new Set(stored.packs.map((pack) => packId(pack.rkey)))
    const isUnheardOf = (id: string) => !listed.has(id) && store.packState(id) === null
    if (!namedPacks(stored).some(isUnheardOf)) return { stored, isWhole: false, heard }
  }
  const stored = await readRepository(client, did, rkey, { takeBytes })
  return stored && { stored, isWhole: true, heard }
}

/** Ids of the packs that the refs say they need. */
function namedPacks({ refs }: StoredRepository): string[] {
  const keys = [...refs.values()].flatMap(({ target, pack }) => (target === null || pack === null ? [] : [pack]))
  return [...new Set(keys)].map(packId)
}

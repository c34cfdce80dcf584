import { type ListAccountOptions, listAccount } from '../../atproto/account/list-account.ts'
import {
  type Identity,
  IdentityNotFoundError,
  IdentityUnavailableError,
  InvalidActorError,
} from '../../atproto/identity/identity.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { isPdsFault, retryAfterOf } from '../../atproto/pds/pds-error.ts'
import { UNMIRRORED } from '../../storage/index/account-standings.ts'
import type { AccountWant, IndexWriter, WantQueue } from '../../storage/index/index-types.ts'

export interface ReconcileAccountDeps {
  readonly index: Pick<IndexWriter, 'replaceAccount' | 'putAccount' | 'forgetAccount'>
  readonly wants: Pick<WantQueue, 'begin' | 'done' | 'putOff'>
  /** Who an account is now: nothing that is kept is believed. @throws as `IdentityResolver.resolve` */
  resolve(did: string): Promise<Identity>
  client(pds: string): PdsClient
  /** What of an account is listed. */
  readonly collections: readonly string[]
  readonly condense: ListAccountOptions['condense']
  /** Whether the index has anything of an account. */
  isKnown(did: string): Promise<boolean>
  /** Whether the operator lets this edge have the account's repositories. */
  isServed(did: string): boolean
  /** Drops the mirrors of an account. It does not throw. */
  dropMirrors(did: string): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
  /** In [0, 1). */
  random(): number
  log(event: string, fields: Record<string, unknown>): void
  /** What goes as it should. */
  logRoutine(event: string, fields: Record<string, unknown>): void
}

/** Nobody else lists an account for so long: a listing is cut off by then. Milliseconds. */
const LEASE = 15 * 60_000
/** Pauses after failures: the first, which doubles, and the longest. Milliseconds. */
const FIRST_PAUSE = 30_000
const LONGEST_PAUSE = 12 * 60 * 60_000
/** An account that changes while it is listed is listed again so often at once. */
const ROUNDS = 3

/**
 * Lists an account that is wanted, if it is due. What goes wrong is put off, longer each time, and never lost: that it is
 * wanted is a row until it is done. It throws only where that row cannot be written.
 */
export async function reconcileAccount(deps: ReconcileAccountDeps, did: string): Promise<void> {
  const { wants, now } = deps
  for (let round = 0; round < ROUNDS; round++) {
    const want = await wants.begin(did, now(), now() + LEASE)
    if (want === null) return
    if (!(await listOrPutOff(deps, want))) return
    if (await wants.done(did, want.wantedAt)) return
    await wants.putOff(did, now(), want.reason)
  }
}

/** @returns whether it is done */
async function listOrPutOff(deps: ReconcileAccountDeps, { did, tries, reason }: AccountWant): Promise<boolean> {
  const { wants, now, random, log } = deps
  try {
    await list(deps, did, reason)
    return true
  } catch (error) {
    const asked = isPdsFault(error) ? Math.min((retryAfterOf(error) ?? 0) * 1000, LONGEST_PAUSE) : 0
    const pause = Math.min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE) * (1 + random())
    const isTheirs = isPdsFault(error) || error instanceof IdentityUnavailableError
    log('account-put-off', { did, tries, isTheirs, reason: String(error) })
    await wants.putOff(did, now() + Math.max(asked, pause), String(error))
    return false
  }
}

async function list(deps: ReconcileAccountDeps, did: string, reason: string): Promise<void> {
  const { index, now, logRoutine } = deps
  if (!deps.isServed(did)) return hide(deps, did, reason)
  const listedAt = now()
  const identity = await resolveOrNull(deps, did)
  const { collections, condense } = deps
  const listed = identity && (await listAccount(deps.client(identity.pds), { did, collections, condense, now }))
  if (identity === null || listed === null || listed.status === 'deleted') {
    if (await deps.isKnown(did)) await index.forgetAccount(did, now())
    await deps.dropMirrors(did)
    logRoutine('account-gone', { did, reason })
    return
  }
  const { handle, pds } = identity
  const { isActive, status, rev, records } = listed
  // Most of those that a relay's list or an operator names may have nothing of ours.
  if (records.length === 0 && !(await deps.isKnown(did))) return
  const dropped = await index.replaceAccount(
    { did, handle, pds, isActive, status, rev: rev ?? '', listedAt, records },
    now(),
  )
  logRoutine('account-listed', { did, reason, isActive, records: records.length, dropped: dropped.length })
}

/** What is known of it stays in the index, and is not shown: it was not deleted, and the operator may serve it again. */
async function hide(deps: ReconcileAccountDeps, did: string, reason: string): Promise<void> {
  const { index, isKnown, dropMirrors, now, logRoutine } = deps
  logRoutine('account-not-served', { did, reason })
  if (!(await isKnown(did))) return
  const listedAt = now()
  const identity = await resolveOrNull(deps, did)
  if (identity === null) await index.forgetAccount(did, now())
  else {
    const { handle, pds } = identity
    const hidden = { isActive: false, status: UNMIRRORED, rev: '', records: [] }
    await index.replaceAccount({ did, handle, pds, listedAt, ...hidden }, now())
  }
  await dropMirrors(did)
}

/** Null: there is no such account, nor will there be. */
async function resolveOrNull(deps: ReconcileAccountDeps, did: string): Promise<Identity | null> {
  try {
    return await deps.resolve(did)
  } catch (error) {
    if (error instanceof IdentityNotFoundError || error instanceof InvalidActorError) return null
    throw error
  }
}

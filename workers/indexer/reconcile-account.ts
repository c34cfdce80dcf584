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
import type { AccountWant, IndexWriter, WantedAccount, WantQueue } from '../../storage/index/index-types.ts'

export interface ReconcileAccountDeps {
  readonly index: Pick<IndexWriter, 'replaceAccount' | 'forgetAccount'>
  readonly wants: Pick<WantQueue, 'begin' | 'place' | 'done' | 'renew' | 'putOff' | 'next'>
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
  /** Hints at accounts that are to be listed. It does not throw. */
  hint(wanted: readonly WantedAccount[]): Promise<void>
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
/** A handle that cannot be checked is kept, and checked again, for so many tries: a week. Then it is nobody's. */
const HANDLE_TRIES = 20

/**
 * Lists an account that is wanted, if it is due. What goes wrong is put off, longer each time, and never lost: that it is
 * wanted is a row until it is done. One that was wanted again meanwhile is listed again, after a pause. It throws only where D1
 * does.
 */
export async function reconcileAccount(deps: ReconcileAccountDeps, did: string): Promise<void> {
  const { wants, hint, now } = deps
  const want = await wants.begin(did, now(), now() + LEASE)
  if (want === null) return
  if ((await listOrPutOff(deps, want)) && !(await wants.done(did, want.wantedAt))) {
    const dueAt = Math.max(now(), want.nextAt)
    await wants.renew(did, dueAt)
    await hint([{ did, dueAt }])
  }
  // Hints at others of this host may have come when too many were being listed.
  const next = await wants.next(want.host, now())
  if (next !== null) await hint([{ did: next, dueAt: now() }])
}

/** @returns whether it is done */
async function listOrPutOff(deps: ReconcileAccountDeps, want: AccountWant): Promise<boolean> {
  const { wants, now, random, log } = deps
  const { did, tries, nextAt } = want
  try {
    return await list(deps, want)
  } catch (error) {
    const asked = isPdsFault(error) ? Math.min((retryAfterOf(error) ?? 0) * 1000, LONGEST_PAUSE) : 0
    const pause = Math.min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE) * (1 + random())
    const isTheirs = isPdsFault(error) || error instanceof IdentityUnavailableError
    log('account-put-off', { did, tries, isTheirs, reason: String(error) })
    await wants.putOff(did, Math.max(now() + Math.max(asked, pause), nextAt), String(error))
    return false
  }
}

/**
 * @returns false: not now, since others of its host are being listed
 * @throws also where all is done, and the handle is to be checked again
 */
async function list(deps: ReconcileAccountDeps, { did, reason, host, tries }: AccountWant): Promise<boolean> {
  const { index, wants, now, logRoutine } = deps
  if (!deps.isServed(did)) return hide(deps, did, reason)
  const listedAt = now()
  const identity = await resolveOrNull(deps, did)
  if (identity !== null && identity.pds !== host && !(await wants.place(did, identity.pds, now()))) return false
  const { collections, condense } = deps
  const listed = identity && (await listAccount(deps.client(identity.pds), { did, collections, condense, now }))
  if (identity === null || listed === null || listed.status === 'deleted') {
    if (await deps.isKnown(did)) await index.forgetAccount(did, now())
    await deps.dropMirrors(did)
    logRoutine('account-gone', { did, reason })
    return true
  }
  const { uncheckedHandle, ...checked } = identity
  const isHandleOpen = uncheckedHandle !== undefined && tries < HANDLE_TRIES
  const { isActive, status, rev, records } = listed
  // Most of those that a relay's list or an operator names may have nothing of ours.
  if (records.length === 0 && !(await deps.isKnown(did))) return true
  const account = isHandleOpen ? identity : checked
  const dropped = await index.replaceAccount({ ...account, isActive, status, rev: rev ?? '', listedAt, records }, now())
  logRoutine('account-listed', { did, reason, isActive, records: records.length, dropped: dropped.length })
  if (isHandleOpen) throw new IdentityUnavailableError(uncheckedHandle, uncheckedHandle, 'or DNS does not answer')
  return true
}

/** What is known of it stays in the index, and is not shown: it was not deleted, and the operator may serve it again. */
async function hide(deps: ReconcileAccountDeps, did: string, reason: string): Promise<true> {
  const { index, isKnown, dropMirrors, now, logRoutine } = deps
  logRoutine('account-not-served', { did, reason })
  if (!(await isKnown(did))) return true
  const listedAt = now()
  const identity = await resolveOrNull(deps, did)
  if (identity === null) await index.forgetAccount(did, now())
  else {
    const { handle, pds } = identity
    const hidden = { isActive: false, status: UNMIRRORED, rev: '', records: [] }
    await index.replaceAccount({ did, handle, pds, listedAt, ...hidden }, now())
  }
  await dropMirrors(did)
  return true
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

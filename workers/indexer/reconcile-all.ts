import type { AccountPage } from '../../atproto/pds/pds-client.ts'
import { PdsError } from '../../atproto/pds/pds-error.ts'
import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import type { WantedAccount, WantQueue } from '../../storage/index/index-types.ts'
import type { Reconcile, Reconciles } from '../../storage/index/reconciles.ts'

/** The name of the list of all accounts that the index knows. Others are a relay's origin. */
export const KNOWN_ACCOUNTS = 'known'

export interface ReconcileAllDeps {
  readonly reconciles: Pick<Reconciles, 'start' | 'advance' | 'find' | 'list'>
  readonly wants: Pick<WantQueue, 'want' | 'count'>
  /** Accounts that the index knows, in the order of their DIDs. */
  knownAccounts(after: string, limit: number): Promise<string[]>
  /** See `PdsClient.listAccounts`. @param origin of a relay, or of a host */
  listAccounts(origin: string, collection: string | null, cursor: string | null): Promise<AccountPage>
  /** Hints at accounts that are to be listed. It does not throw: cron finds what is due. */
  hint(wanted: readonly WantedAccount[]): Promise<void>
  /** Hints at some of those that are due. */
  hintDue(): Promise<void>
  /** Hints at lists of which the next accounts are to be wanted. It does not throw. */
  hintLists(sources: readonly string[]): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
  log(event: string, fields: Record<string, unknown>): void
  /** What goes as it should. */
  logRoutine(event: string, fields: Record<string, unknown>): void
}

/** A step ends after so many pages, or milliseconds: the next one has time of its own. */
const PAGES = 10
const STEP = 20_000
const KNOWN_PAGE = 1_000
/** Accounts of a host that are listed although they may have nothing of ours: a host has fewer, and a relay has more. */
const ALL_LIMIT = 200_000
/**
 * What hosts answer that have no list by collection. A PDS passes on what it does not know: it answers 400 where it has nobody
 * to pass it on to, and else 401, since it does so only for those who have signed in.
 */
const WITHOUT_METHOD: readonly number[] = [400, 401, 404, 501]
/** A cursor that begins with this is one of all accounts of a host that has no list of those with a collection. */
const ALL = 'all:'

/** Which accounts are to be listed: those that a relay knows (its origin), those that the index knows, or some. */
export type ReconcileSource =
  | { readonly relay: string }
  | { readonly known: true }
  | { readonly dids: readonly string[] }

/** Has accounts listed; how far it has come is in D1. A list that is being read is begun anew. */
export async function startReconcile(deps: ReconcileAllDeps, source: ReconcileSource): Promise<void> {
  const { reconciles, wants, hint, hintLists, now, logRoutine } = deps
  if ('dids' in source) {
    const dids = [...new Set(source.dids)]
    await hint(await wants.want(dids, 'named by the operator', now(), true))
    logRoutine('reconcile-started', { source: 'operator', accounts: dids.length })
    return
  }
  const name = 'relay' in source ? source.relay : KNOWN_ACCOUNTS
  await reconciles.start(name, now())
  await hintLists([name])
  logRoutine('reconcile-started', { source: name, accounts: null })
}

/** Wants the accounts of the next pages of a list, and has the rest done later. @throws what the relay and D1 throw */
export async function stepReconcile(deps: ReconcileAllDeps, source: string): Promise<void> {
  const { reconciles, wants, hint, hintDue, hintLists, now, logRoutine } = deps
  const until = now() + STEP
  for (let pages = 0; pages < PAGES && now() < until; pages++) {
    const reconcile = await reconciles.find(source)
    if (reconcile === null || reconcile.finishedAt !== null) return
    const { dids, cursor } = await nextPage(deps, reconcile)
    // First what is to be done, then that it is noted.
    const wanted = await wants.want(dids, `listed by ${source}`, now())
    // Whoever was faster goes on.
    if (!(await reconciles.advance(reconcile, dids.length, cursor, now()))) return
    // Those that were listed a moment ago. The others go host by host.
    await hint(wanted.filter(({ dueAt }) => dueAt > now()))
    if (cursor !== null) continue
    await hintDue()
    logRoutine('reconcile-done', {
      source,
      accounts: reconcile.accounts + dids.length,
      took: now() - reconcile.startedAt,
    })
    return
  }
  await hintDue()
  await hintLists([source])
}

async function nextPage(deps: ReconcileAllDeps, { source, cursor, accounts }: Reconcile): Promise<AccountPage> {
  if (source === KNOWN_ACCOUNTS) {
    const dids = await deps.knownAccounts(cursor ?? '', KNOWN_PAGE)
    return { dids, cursor: dids.length < KNOWN_PAGE ? null : dids.at(-1)! }
  }
  if (cursor?.startsWith(ALL)) {
    if (accounts < ALL_LIMIT) return allOf(deps, source, cursor.slice(ALL.length))
    deps.log('reconcile-failed', {
      source,
      reason: `it lists more than ${ALL_LIMIT} accounts, and not those that we need`,
    })
    return { dids: [], cursor: null }
  }
  try {
    return await deps.listAccounts(source, REPO_COLLECTION, cursor)
  } catch (error) {
    const isUnknown = error instanceof PdsError && cursor === null && WITHOUT_METHOD.includes(error.status)
    if (!isUnknown) throw error
  }
  return allOf(deps, source, null)
}

async function allOf(deps: ReconcileAllDeps, source: string, after: string | null): Promise<AccountPage> {
  const { dids, cursor } = await deps.listAccounts(source, null, after)
  return { dids, cursor: cursor === null ? null : ALL + cursor }
}

export interface ReconcileStatus {
  readonly reconciles: readonly Reconcile[]
  /** Accounts that are to be listed. */
  readonly wanted: number
}

/** How far listings of accounts have come. */
export async function reconcileStatus(deps: Pick<ReconcileAllDeps, 'reconciles' | 'wants'>): Promise<ReconcileStatus> {
  const [reconciles, wanted] = await Promise.all([deps.reconciles.list(), deps.wants.count()])
  return { reconciles, wanted }
}

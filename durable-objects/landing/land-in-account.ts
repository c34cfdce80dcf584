import { type Landing, type LandingResult, pushMessage } from '../../atproto/account/landing.ts'
import type { DirectoryEntry } from '../../storage/directory/repository-directory.ts'
import { isForOwner, type LandAnswer, type Refusal } from '../account-writer/answers.ts'
import { log } from '../log.ts'
import type { Mirror } from '../repository/mirror.ts'
import type { TakenPack } from './taken-pack.ts'

export interface LandingDeps {
  /** What writes to the account: its `AccountWriter`. */
  readonly writer: { land(landing: Landing): Promise<LandAnswer> }
  /** Of the repository that the landing is for. */
  readonly mirror: Pick<Mirror, 'land' | 'refresh'>
  /** Hears of a repository that was created. */
  noteRepository(did: string, entry: DirectoryEntry): Promise<void>
  /** Lets work go on for which nobody waits. */
  waitUntil(work: Promise<unknown>): void
}

/** What a landing needs of a pack that has been taken in. */
export type LandingPack = Pick<TakenPack, 'putFiles' | 'manifestPack' | 'discard'>

/**
 * Writes to the account, and what readers need to R2 at the same time; then the mirror takes over what landed. What the
 * account holds by then is what counts: no fault of the edge's own makes a landing fail that has landed. A pack of which
 * nothing has landed, and for certain, leaves nothing in R2.
 *
 * @param pack the one whose record the landing has; null where it has none
 */
export async function landInAccount(
  deps: LandingDeps,
  landing: Landing,
  pack: LandingPack | null,
): Promise<LandingResult> {
  const result = await write(deps, landing, pack)
  if (!result.packLanded && !result.failure?.isUncertain) await pack?.discard()
  return result
}

async function write(deps: LandingDeps, landing: Landing, pack: LandingPack | null): Promise<LandingResult> {
  const [answer, files] = await Promise.allSettled([deps.writer.land(landing), pack?.putFiles()])
  if (answer.status === 'rejected') {
    log('landing-cut-short', { did: landing.did, repo: landing.repo, reason: String(answer.reason) })
    deps.waitUntil(deps.mirror.refresh())
    return cutShort(landing)
  }
  if (!answer.value.ok) return refused(landing, answer.value)
  const { result } = answer.value
  try {
    if (files.status === 'rejected') throw files.reason
    await takeOver(deps, landing, result, pack)
  } catch (error) {
    // It is in the account all the same, and from there the mirror has it as soon as it reads it.
    log('take-over-failed', { did: landing.did, repo: landing.repo, reason: String(error) })
    deps.waitUntil(deps.mirror.refresh())
  }
  return result
}

/** The mirror takes over what landed before that is reported: the next fetch by whoever wrote it sees it. */
async function takeOver(
  deps: LandingDeps,
  { did, repo, create }: Landing,
  result: LandingResult,
  pack: LandingPack | null,
): Promise<void> {
  const isCreated = create !== null && result.repository === 'created'
  if (create !== null && !isCreated) return
  await deps.mirror.land({
    record: create,
    pack: pack !== null && result.packLanded ? pack.manifestPack() : null,
    states: result.moves.flatMap((move) => (move.outcome === 'landed' ? [move.state] : [])),
    head: result.head,
    headNeeds: result.headNeeds,
  })
  if (result.isStale) {
    const refreshed = deps.mirror.refresh()
    // Who is told to fetch first must find there what was faster.
    if (result.moves.some(({ outcome }) => outcome === 'lost')) await refreshed
    else deps.waitUntil(refreshed)
  }
  if (isCreated) await deps.noteRepository(did, { rkey: repo, record: create })
}

function cutShort(landing: Landing): LandingResult {
  const message = 'the server failed'
  return failed(landing, { message, retryAfterSeconds: null, isUncertain: true, isForOwner: false, isRefused: false })
}

function refused(landing: Landing, refusal: Refusal): LandingResult {
  const { message, retryAfterSeconds } = refusal
  return failed(landing, {
    message,
    retryAfterSeconds,
    isUncertain: false,
    isForOwner: isForOwner(refusal),
    isRefused: false,
  })
}

/** A landing of which nothing is known to have landed. */
function failed(landing: Landing, failure: NonNullable<LandingResult['failure']>): LandingResult {
  const { retryAfterSeconds, isUncertain } = failure
  const message = pushMessage(failure.message, isUncertain)
  return {
    moves: landing.moves.map(({ name }) => ({ name, outcome: 'failed', message, retryAfterSeconds })),
    packLanded: false,
    repository: 'unchanged',
    failure,
    head: landing.head,
    headNeeds: [],
    isStale: false,
  }
}

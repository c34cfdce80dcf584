import type { PdsClient } from '../pds/pds-client.ts'
import { PACK_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import { mayHaveMovedOn, showsLanding } from '../refs/judge.ts'
import { mergeRefs } from '../refs/merge.ts'
import type { BatchPart } from '../refs/plan.ts'
import { createsRef, type Landing, type RefMove, reliesOnHead } from './landing.ts'
import type { FreshRefs, LandingRun } from './landing-run.ts'
import { readLooseRefs, readRefs } from './read-refs.ts'

/** A landing, and what of it was in the batch that met a fault. */
export interface TriedLanding {
  readonly run: LandingRun
  readonly part: BatchPart
  /**
   * The same was in a write before whose fate is not known. Where it is in the account, it may have come there by that
   * one: this says nothing of what it was together with this time.
   */
  readonly mayHaveLanded: boolean
}

/** What the account says of one repository after a fault. */
export interface Look {
  readonly refs: FreshRefs
  /** The batch is in the account, all of it, also in other repositories, and only the answer was lost. */
  readonly hasLanded: boolean
  /** Where it has not: those that are in the account by one before it. */
  readonly landed: ReadonlySet<LandingRun>
  /** The repository has been deleted. */
  readonly isGone: boolean
}

/**
 * Looks what has become of a batch, by the landings that it had in one repository.
 *
 * @throws the faults of reading
 */
export async function lookAgain(client: PdsClient, tried: readonly TriedLanding[]): Promise<Look> {
  const { run } = tried[0]!
  // Also what was not in the batch yet: it is to be taken up with the rest.
  const moves = tried.flatMap((each) => each.run.pending)
  const withHead = moves.some(reliesOnHead) || tried.some(({ part }) => part.movesHead)
  const refs = await readFresh(client, run.landing, moves, withHead)
  const landed = new Set<LandingRun>()
  let hasLanded = false
  for (const { run, part, mayHaveLanded } of tried) {
    if (!showsLanding(part, run.id, refs.stored) && !(await isFollowed(client, run, part, refs))) continue
    landed.add(run)
    hasLanded = !mayHaveLanded
    if (hasLanded) break
  }
  return { refs, hasLanded, landed, isGone: !hasLanded && (await isGone(client, run.landing, refs)) }
}

/** The refs of a landing as they are now. @param withHead whether the head is to be read too */
export async function readFresh(
  client: PdsClient,
  { did, repo }: Landing,
  moves: readonly RefMove[],
  withHead = moves.some(reliesOnHead),
): Promise<FreshRefs> {
  const names = moves.map(({ name }) => name)
  const ignore = () => undefined
  const readAll = async (wanted: readonly string[] | 'all') => {
    return { stored: await readRefs(client, did, repo, wanted, ignore), hasShards: true }
  }
  // Refs that were created meanwhile may stand in the way of those to create: that takes all names.
  if (withHead) return readAll(moves.some(createsRef) ? 'all' : names)
  const stored = mergeRefs(await readLooseRefs(client, did, repo, names, ignore), [])
  // A loose ref that is gone altogether has been packed.
  return names.every((name) => stored.refs.has(name)) ? { stored, hasShards: false } : readAll(names)
}

/** Whether it has landed, and others have moved on all that it moved. */
async function isFollowed(client: PdsClient, run: LandingRun, part: BatchPart, refs: FreshRefs): Promise<boolean> {
  return mayHaveMovedOn(part, refs.stored) && (await hasOpening(client, run.landing))
}

/** Whether the pack is in the account, or the repository's record where the landing has no pack. */
async function hasOpening(client: PdsClient, { did, pack, repo }: Landing): Promise<boolean> {
  const [collection, rkey] = pack ? [PACK_COLLECTION, pack.rkey] : [REPO_COLLECTION, repo]
  return (await client.getRecord(did, collection, rkey)) !== null
}

/** Whether the repository that a landing is for has been deleted. */
export async function isGone(
  client: PdsClient,
  { did, repo, create }: Landing,
  { stored, hasShards }: FreshRefs,
): Promise<boolean> {
  // One request, and only where there is no head: it goes with the repository.
  if (!hasShards || stored.head !== null || create !== null) return false
  return (await client.getRecord(did, REPO_COLLECTION, repo)) === null
}

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
}

/** What the account says of one repository after a fault. */
export interface Look {
  readonly refs: FreshRefs
  /** The batch is in the account, all of it, and only the answer was lost. */
  readonly hasLanded: boolean
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
  const moves = tried.flatMap(({ part }) => part.moves.map(({ move }) => move))
  const refs = await readFresh(
    client,
    run.landing,
    moves,
    tried.some(({ part }) => part.movesHead),
  )
  const hasLanded = await showsBatch(client, tried, refs)
  return { refs, hasLanded, isGone: !hasLanded && refs.hasShards && (await isGone(client, run, refs)) }
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

async function showsBatch(client: PdsClient, tried: readonly TriedLanding[], { stored }: FreshRefs): Promise<boolean> {
  if (tried.some(({ run, part }) => showsLanding(part, run.id, stored))) return true
  for (const { run, part } of tried) {
    if (mayHaveMovedOn(part, stored) && (await hasOpening(client, run.landing))) return true
  }
  return false
}

/** Whether the pack is in the account, or the repository's record where the landing has no pack. */
async function hasOpening(client: PdsClient, { did, pack, repo }: Landing): Promise<boolean> {
  const [collection, rkey] = pack ? [PACK_COLLECTION, pack.rkey] : [REPO_COLLECTION, repo]
  return (await client.getRecord(did, collection, rkey)) !== null
}

/** Whether a repository that had a head has been deleted. */
async function isGone(client: PdsClient, { landing, head }: LandingRun, { stored }: FreshRefs): Promise<boolean> {
  if (stored.head !== null || head === null || landing.create !== null) return false
  return (await client.getRecord(landing.did, REPO_COLLECTION, landing.repo)) === null
}

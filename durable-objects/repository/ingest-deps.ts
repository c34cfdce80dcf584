import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import type { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { KnownObjects } from '../../git/graph/build-graph.ts'
import type { IngestedPack } from '../../git/graph/ingest-pack.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { openPacks, withGraphs } from '../../storage/packs/open-packs.ts'
import type { RepositoryAddress } from './answers.ts'
import type { IngestLimits } from './ingest-limits.ts'
import { PackMovedError } from './pack-arrival.ts'

export interface IngestDeps {
  readonly store: MirrorStore
  readonly client: PdsClient
  readonly bucket: R2Bucket
  readonly limits: IngestLimits
  /** Whether what comes next is to be left to the next alarm, which has time of its own. */
  isTurnOver(): boolean
  /** What the ids of packs begin with that one is cut into; no pack of the repository has had it. */
  newStem(): string
  /** Makes few packs of many; called after each that is taken in. */
  merge(): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
  /** What goes as it should. */
  logRoutine(event: string, fields: Record<string, unknown>): void
}

/** What is done with a pack, for a person. */
export type IngestStep =
  | 'downloading bytes'
  | 'receiving objects'
  | 'resolving objects'
  | 'linking objects'
  | 'linking commits'
export type TellStep = (step: IngestStep, done: number, total: number) => void

/** What the repository has already, entered where its buffers are counted. */
export async function openKnown(
  { store, bucket }: IngestDeps,
  { did, rkey }: RepositoryAddress,
  memory: MemoryAccount,
): Promise<KnownObjects | null> {
  const packs = await openPacks(bucket, did, rkey, store.packs('ready'))
  if (packs.length === 0) return null
  for (const { data } of packs) memory.enter(data)
  const known = await withGraphs(packs)
  return { objects: memory.enter(new PackedObjects(known)), graph: RepositoryGraph.of(known) }
}

/**
 * @param added objects of another pack
 * @param source where that is; what it replaces does not count
 * @throws {@link PackError} if the repository would have more objects with it than can be read
 */
export function checkObjects(
  { store, limits }: Pick<IngestDeps, 'store' | 'limits'>,
  added: number,
  { replaces }: PackSource,
): void {
  const replaced = new Set([...replaces, ...store.merges.containersOf(replaces)])
  const others = store.packs('ready').filter(({ id }) => !replaced.has(id))
  const objects = others.reduce((sum, pack) => sum + pack.objects, added)
  if (objects <= limits.objects) return
  const what = objects === added ? `the pack has ${added} objects` : `with the pack there are ${objects} objects`
  throw new PackError(`${what}; a repository can be mirrored with ${limits.objects} at most`)
}

/** Whether what a pack's objects lack may be in packs that are still to come. */
export function mayBringMore(store: MirrorStore, { missing }: Pick<IngestedPack, 'missing'>): boolean {
  return missing.length > 0 && store.packs('wanted').length > 1
}

/**
 * Makes sure that all of the account has been listed before something is said to be nowhere in it: a stream drops events.
 *
 * @throws {@link PackMovedError}
 */
export function requireListed(store: MirrorStore): void {
  if (store.timesHeard() > 0) throw new PackMovedError('not all that it needs has been heard of')
}

export function logFaults(
  { log }: IngestDeps,
  { did, rkey }: RepositoryAddress,
  { id }: ManifestPack,
  { malformed, missing }: Pick<IngestedPack, 'malformed' | 'missing'>,
): void {
  for (const reason of malformed) log('object-malformed', { did, rkey, pack: id, reason })
  if (missing.length > 0) log('objects-missing', { did, rkey, pack: id, count: missing.length, first: missing[0] })
}

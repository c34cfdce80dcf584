import { heardRepositories } from '../../atproto/firehose/heard-repository.ts'
import type { StreamEvent } from '../../atproto/firehose/stream-event.ts'
import type { RepositoryAddress } from '../../durable-objects/repository/answers.ts'
import type { Heard } from '../../durable-objects/repository/hear.ts'
import type { MirroredRepository } from '../../storage/index/find-mirrored.ts'
import type { ApplyOutcome } from '../../storage/index/index-types.ts'
import type { RepositoryKey } from '../../storage/repository-key.ts'

export interface FollowOutcomeDeps {
  /** Those of some repositories that are mirrored. */
  findMirrored(keys: readonly RepositoryKey[]): Promise<readonly MirroredRepository[]>
  /** Tells the object of a mirror. */
  hear(address: RepositoryAddress, heard: Heard): Promise<unknown>
  /** Hints at accounts that are to be listed. It does not throw. */
  hint(wanted: ApplyOutcome['wanted']): Promise<void>
  /** Deletes the bytes of packs that were taken out of events. */
  deleteParked(keys: readonly string[]): Promise<void>
  log(event: string, fields: Record<string, unknown>): void
}

/**
 * What is to be done once events are in the index: mirrors hear of what is new, and accounts are listed. All of it heals by
 * itself where it fails, so it is only logged: a mirror that has not heard looks at its account when it is read, and that an
 * account is wanted is a row.
 */
export async function followOutcome(
  deps: FollowOutcomeDeps,
  events: readonly StreamEvent[],
  { wanted }: Pick<ApplyOutcome, 'wanted'>,
): Promise<void> {
  await Promise.all([tellMirrors(deps, events), deps.hint(wanted)])
}

async function tellMirrors(deps: FollowOutcomeDeps, events: readonly StreamEvent[]): Promise<void> {
  const { findMirrored, deleteParked, log } = deps
  try {
    const heard = heardRepositories(events)
    const byKey = new Map(heard.map((repository) => [`${repository.did}/${repository.rkey}`, repository]))
    const mirrored = heard.length === 0 ? [] : await findMirrored(heard)
    await Promise.all(
      mirrored.map(async ({ did, rkey, pds, record }) => {
        const { packs, refs, isProven, isRecordNews } = byKey.get(`${did}/${rkey}`)!
        const news = isRecordNews ? { record: record ?? ('gone' as const) } : { record: null }
        await tell(deps, { did, rkey, pds }, { packs, refs, isProven, ...news })
      }),
    )
    const parked = events.flatMap((event) => (event.kind === 'record' ? (event.parked ?? []) : []))
    if (parked.length > 0) await deleteParked(parked)
  } catch (error) {
    log('mirrors-untold', { reason: String(error) })
  }
}

async function tell({ hear, log }: FollowOutcomeDeps, address: RepositoryAddress, heard: Heard): Promise<void> {
  try {
    await hear(address, heard)
  } catch (error) {
    log('mirrors-untold', { did: address.did, rkey: address.rkey, reason: String(error) })
  }
}

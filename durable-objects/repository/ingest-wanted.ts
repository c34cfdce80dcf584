import { PackError } from '../../git/pack/entry-header.ts'
import { MissingBaseError } from '../../git/pack/resolve-deltas.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import { openPacks, withGraphs } from '../../storage/packs/open-packs.ts'
import type { RepositoryAddress } from './answers.ts'
import { brokenRefs, conflictingRefs } from './broken-refs.ts'
import { type IngestDeps, requireListed, type TellStep } from './ingest-deps.ts'
import { ingestRecord } from './ingest-record.ts'

/**
 * Takes in every wanted pack, oldest first, since later ones may build on earlier ones; what turns out to build on one
 * that is not there yet comes again after the others. Then the refs are checked. Each pack becomes visible as it is
 * done, so that a run that is cut short has lost nothing but the pack it was at.
 *
 * @param onProgress is told lines for a person.
 * @returns false if the turn is over before it is done
 * @throws {@link PackMovedError}, and what R2 and the PDS throw
 */
export async function ingestWanted(
  deps: IngestDeps,
  address: RepositoryAddress,
  onProgress: (line: string) => void,
): Promise<boolean> {
  const { store } = deps
  const total = store.packs('wanted').length
  for (let done = 1, pack = store.nextWanted(); pack !== null; done++, pack = store.nextWanted()) {
    // Something is done in each turn, so that there is an end.
    if (done > 1 && deps.isTurnOver()) return false
    const label = total === 1 ? 'Mirroring' : `Mirroring pack ${Math.min(done, total)}/${total}`
    if (!(await ingestOrBreak(deps, address, pack, pack.isLastTry, percentages(label, onProgress)))) return false
    const state = store.packState(pack.id)
    if (state === 'wanted') store.leaveForOthers(pack.id)
    else if (state !== 'broken' && !pack.isLastTry) store.tryLeftAgain()
    await deps.merge()
  }
  await checkRefs(deps, address)
  return true
}

/**
 * Takes a pack in, leaves it wanted if others may have what it lacks, or notes that it cannot be read.
 *
 * @returns false if the turn is over before it is done
 */
async function ingestOrBreak(
  deps: IngestDeps,
  address: RepositoryAddress,
  pack: ManifestPack,
  isLastTry: boolean,
  onProgress: TellStep,
): Promise<boolean> {
  try {
    return await ingestRecord(deps, address, pack, isLastTry, onProgress)
  } catch (error) {
    if (error instanceof MissingBaseError && !isLastTry) return true
    if (!(error instanceof PackError)) throw error
    if (error instanceof MissingBaseError) requireListed(deps.store)
    // What cannot be read today cannot be read tomorrow either: a record and its blobs never change.
    deps.log('pack-broken', { did: address.did, rkey: address.rkey, pack: pack.id, reason: error.message })
    deps.store.breakPack(pack.id)
    return true
  }
}

async function checkRefs({ store, bucket, log }: IngestDeps, { did, rkey }: RepositoryAddress): Promise<void> {
  const unchecked = store.uncheckedRefs()
  if (unchecked.length === 0) return
  const packs = await withGraphs(await openPacks(bucket, did, rkey, store.packs('ready')))
  const unreachable = new Set(brokenRefs(unchecked, packs))
  const names = unchecked.map(({ name }) => name).filter((name) => !unreachable.has(name))
  const broken = new Set([...unreachable, ...conflictingRefs(names, store.soundRefNames())])
  if (broken.size > 0) {
    requireListed(store)
    log('refs-broken', { did, rkey, refs: [...broken] })
  }
  store.settleRefs(unchecked.map((ref) => ({ ...ref, isBroken: broken.has(ref.name) })))
}

/** Lines for a person, one for each percent and not for each call. */
function percentages(label: string, tell: (line: string) => void): TellStep {
  let told = ''
  return (step, done, total) => {
    const percent = Math.floor((100 * done) / Math.max(total, 1))
    const line = `${label}: ${step} ${percent}%`
    if (line === told) return
    told = line
    tell(`${line} (${done}/${total})\r`)
  }
}

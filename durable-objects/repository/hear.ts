import { createHash } from 'node:crypto'
import type { HeardPack, HeardRepository } from '../../atproto/firehose/heard-repository.ts'
import type { PackRecord, RepoRecord } from '../../atproto/records/record-types.ts'
import type { PackSource } from '../../storage/mirror/mirror-rows.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import type { RepositoryAddress } from './answers.ts'
import { isNeeded, packId, packSource } from './pack-source.ts'

/** What a stream has said of a repository. */
export interface Heard extends Pick<HeardRepository, 'packs' | 'refs' | 'isProven'> {
  /** The repository's record as it is now, if that may be news; `gone`: there is none any more, it seems. */
  readonly record: RepoRecord | 'gone' | null
}

export interface HearDeps {
  readonly store: MirrorStore
  /** Bytes that were taken out of a record; null: they are not there any more. */
  readParked(key: string): Promise<Uint8Array | null>
  /** Keeps them as the pack's, before its row says that it is wanted. */
  keepInlinePack(id: string, bytes: Uint8Array): Promise<void>
}

/**
 * `cold`: nobody has asked for the repository yet, so there is nothing to bring up to date. `unclear`: it is not all that
 * is needed, so the account is to be read. `known`: nothing of it is news. `heard`: the mirror has it now.
 */
export type HearOutcome = 'cold' | 'unclear' | 'known' | 'heard'

/**
 * Takes over what a stream has said of a repository, without a request to its account: refs moved forward, new packs
 * wanted, of which those that were in their records are here already. What the mirror has is passed over, so that the
 * echo of a push through the edge changes nothing.
 *
 * A stream drops events. A ref that needs a pack which was not heard of makes it `unclear`; what only turns out later,
 * when objects are missing, has the account listed then (`requireListed`).
 *
 * The seq of the head shard is not taken over: that may only be done by who knows all names of refs.
 */
export async function hear(deps: HearDeps, address: RepositoryAddress, heard: Heard): Promise<HearOutcome> {
  const { store } = deps
  if (store.head() === null) return 'cold'
  if (!heard.isProven || heard.record === 'gone') return 'unclear'
  const wanted: HeardPack[] = []
  for (const pack of heard.packs) {
    const id = packId(pack.rkey)
    if (!isNeeded(store.packState(id))) continue
    if (pack.parked !== null) {
      const bytes = await deps.readParked(pack.parked)
      if (bytes === null || !isPackOf(pack.record, bytes)) return 'unclear'
      await deps.keepInlinePack(id, bytes)
    }
    wanted.push(pack)
  }
  return takeOver(store, address, heard, wanted)
}

/** All rows at once, as they are when the bytes are kept: the repository may have been forgotten meanwhile. */
function takeOver(
  store: MirrorStore,
  { did, rkey, pds }: RepositoryAddress,
  { record, refs }: Heard,
  wanted: readonly HeardPack[],
): HearOutcome {
  const head = store.head()
  if (head === null) return 'cold'
  const coming = new Set(wanted.map((pack) => packId(pack.rkey)))
  const isUnheardOf = (id: string) => !coming.has(id) && store.packState(id) === null
  const needed = refs.flatMap(({ target, pack }) => (target === null || pack === null ? [] : [packId(pack)]))
  if (needed.some(isUnheardOf)) return 'unclear'
  let isNews = false
  if (record !== null && record !== 'gone') {
    store.setHead({ did, rkey, pds, record, head: head.head, checkedAt: head.checkedAt })
    isNews = store.head()?.version !== head.version
  }
  for (const pack of wanted) isNews = want(store, pack) || isNews
  isNews = store.advanceRefs(refs, 'unchecked') > 0 || isNews
  if (!isNews) return 'known'
  store.noteHeard()
  return 'heard'
}

/** Whether that is news. */
function want(store: MirrorStore, { rkey, record }: HeardPack): boolean {
  const id = packId(rkey)
  const source: PackSource = packSource(id, record)
  if (!isNeeded(store.packState(id)) || store.isSource(id, source)) return false
  store.wantPack({ id, size: record.size, objects: record.objects }, source)
  return true
}

/** A pack ends with the SHA-1 of all before it, which its record repeats. */
const CHECKSUM_BYTES = 20

function isPackOf({ size, checksum }: PackRecord, bytes: Uint8Array): boolean {
  if (bytes.length !== size || size < CHECKSUM_BYTES) return false
  const end = size - CHECKSUM_BYTES
  const trailer = Buffer.from(bytes.buffer, bytes.byteOffset + end, CHECKSUM_BYTES).toString('hex')
  return trailer === checksum && createHash('sha1').update(bytes.subarray(0, end)).digest('hex') === checksum
}

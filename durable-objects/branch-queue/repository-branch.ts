import type { Landing, LandingResult } from '../../atproto/account/landing.ts'
import { PACK_COLLECTION } from '../../atproto/records/collections.ts'
import type { RefState } from '../../atproto/refs/ref-state.ts'
import { MemoryAccount } from '../../git/bytes/memory-account.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { mergeBases } from '../../git/merge/merge-bases.ts'
import { buildPack } from '../../git/pack/build-pack.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { RefNames, withConflicts } from '../../git/refs/ref-conflicts.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { withGraphs } from '../../storage/packs/open-packs.ts'
import type { R2Range } from '../../storage/packs/r2-range.ts'
import type { Environment } from '../environment.ts'
import { landInAccount } from '../landing/land-in-account.ts'
import { newPack, takeBuiltPack } from '../landing/new-pack.ts'
import type { TakenPack } from '../landing/taken-pack.ts'
import { createPdsClient } from '../pds-clients.ts'
import type { WriterRef } from '../repository/answers.ts'
import { Mirror } from '../repository/mirror.ts'
import { MirrorRefusedError, MirrorUnavailableError, RepositoryGoneError } from '../repository/mirror-errors.ts'
import type { Room } from '../size-caps.ts'
import { accountWriterOf } from '../stubs.ts'
import { tids } from '../tids.ts'
import type { BranchAddress } from './answers.ts'
import type { Branch, BranchPosition, Freshness, LandingCost, LandOutcome, PreparedLanding } from './branch.ts'
import type { Fold } from './fold-batch.ts'
import { type BranchPlace, readTip } from './ground.ts'
import { KeptSource } from './kept-objects.ts'
import { KEPT_IN_MEMORY } from './limits.ts'
import type { Attempt } from './queue-store.ts'

export interface RepositoryBranchDeps {
  readonly environment: Environment
  /** Lets work go on for which nobody waits. */
  waitUntil(work: Promise<unknown>): void
}

/** What is at hand of the branch's repository. */
interface Known {
  readonly place: BranchPlace
  /** The ref as the account has it; null: it never existed. */
  readonly state: RefState | null
  readonly head: number | null
  /** Oldest first: those of the mirror's manifest, then those that have landed since. */
  readonly packs: readonly PackHandle[]
  /** Id of the newest; null: there are none. */
  readonly newest: string | null
  readonly source: KeptSource
  /** Of the mirror's packs: what has been read of them is held for as long as the landing takes. */
  readonly ranges: readonly R2Range[]
  /** Requests to R2 so far. */
  reads(): number
  /** Packs that have landed since, and their bytes. */
  readonly landedPacks: number
  readonly landedBytes: number
  /** What could be added to the repository when the mirror was asked; null: there is no cap. */
  readonly room: Room | null
  /** When the mirror was asked, in milliseconds since 1970. */
  readonly askedAt: number
}

/** The mirror deletes what it has merged after hours. Milliseconds. */
const KNOWN_FOR = 30 * 60_000
/** Looks at the mirror until its refs and its packs fit together: others land in between. */
const MOST_LOOKS = 4

/**
 * A branch by its repository's mirror and its account. After a landing it is known where the branch is and what it
 * holds, without a question and without a read: until somebody else moves it, which the next landing finds out.
 */
export class RepositoryBranch implements Branch {
  readonly #deps: RepositoryBranchDeps
  readonly #address: BranchAddress
  #known: Known | null = null
  /** Seq to which the branch has come by landings from here: what the mirror says must not be older. */
  #landedSeq = 0
  /** Requests to R2 up to the last landing, since the mirror was asked. */
  #reads = 0

  constructor(deps: RepositoryBranchDeps, address: BranchAddress) {
    this.#deps = deps
    this.#address = address
  }

  async position(): Promise<BranchPosition> {
    const known = this.#known
    return known !== null && isUsable(known) ? positionOf(known, 'kept') : this.reload(false)
  }

  async reload(fromAccount: boolean): Promise<BranchPosition> {
    this.#known = null
    this.#reads = 0
    const mirror = this.#mirror()
    if (fromAccount) await this.#readAccount(mirror)
    const known = await this.#ask(mirror)
    this.#known = known
    return positionOf(known, fromAccount ? 'account' : 'mirror')
  }

  forget(): void {
    this.#known = null
  }

  async prepare(_: BranchPosition, fold: Fold): Promise<PreparedLanding> {
    const known = this.#known
    if (known === null) throw new Error('a landing is prepared of a branch of which nothing is known')
    const fresh = fold.objects.filter(({ oid }) => !known.source.has(oid))
    const landing = { ...this.#landing(known, fold), pack: null }
    if (fresh.length === 0) {
      const id = tids.next(known.newest ?? undefined)
      return { id, pack: null, cost: this.#cost(known, 0), land: () => this.#land(known, fold, landing, null) }
    }
    const built = await buildPack(fresh, known.source)
    requireRoom(known, built.bytes.length)
    const options = newPack(
      this.#deps.environment,
      // Of this landing's buffers: the mirror's account goes on to hold the packs.
      { address: this.#mirror().address, memory: new MemoryAccount() },
      // It fits: that was made sure of.
      { known: known.packs, newest: known.newest, room: null },
    )
    const pack = await takeBuiltPack(built, { ...options, objects: known.source })
    try {
      if (pack.ingested.missing.length > 0) {
        throw new Error(`the pack lacks ${pack.ingested.missing.length} objects: ${pack.ingested.missing[0]}`)
      }
      const toLand = await pack.toLand()
      const made = { pack, bytes: built.bytes }
      return {
        id: pack.id,
        pack: toLand.rkey,
        cost: this.#cost(known, built.bytes.length),
        land: () => this.#land(known, fold, { ...landing, pack: toLand }, made),
      }
    } catch (error) {
      await pack.discard()
      throw error
    }
  }

  async hasLanded({ pack, fromSeq, tip }: Attempt): Promise<boolean> {
    const { did, pds, ref } = this.#address
    if (pack !== null) {
      const client = createPdsClient(this.#deps.environment, pds, did)
      return (await client.getRecord(did, PACK_COLLECTION, pack)) !== null
    }
    const mirror = this.#mirror()
    await this.#readAccount(mirror)
    const now = (await mirror.writerView([ref])).refs[0]?.state ?? null
    if ((now?.seq ?? 0) <= (fromSeq ?? 0)) return false
    if ((now?.target ?? null) === tip) return true
    return tip !== null && now?.target != null && this.#isAncestor(mirror, tip, now.target)
  }

  #mirror(): Mirror {
    const { did, pds, rkey } = this.#address
    return new Mirror(this.#deps, { did, pds }, rkey, 'writer')
  }

  async #readAccount(mirror: Mirror): Promise<void> {
    const outcome = await mirror.refresh()
    if (outcome.state === 'gone') throw new RepositoryGoneError()
    if (outcome.state === 'refused') throw new MirrorRefusedError(outcome)
    if (outcome.state === 'unavailable') throw new MirrorUnavailableError(outcome.message, outcome.retryAfterSeconds)
  }

  async #ask(mirror: Mirror): Promise<Known> {
    const { ref } = this.#address
    for (let look = 1; look <= MOST_LOOKS; look++) {
      const manifest = await mirror.completeManifest(withConflicts([ref]))
      const { refs, head } = await mirror.writerView([ref])
      const current = refs[0] ?? null
      if ((current?.state.seq ?? 0) < this.#landedSeq) {
        // The mirror could not take over what has landed; the account has it.
        await this.#readAccount(mirror)
        continue
      }
      const opened = await mirror.packs(manifest)
      const packs = await withGraphs(opened)
      const source = this.#source(packs)
      const target = current === null || current.isBroken ? null : current.state.target
      // Landed between the two questions.
      if (target !== null && !source.has(target)) continue
      return {
        place: await this.#place(manifest, current, source),
        state: current?.state ?? null,
        head,
        packs,
        newest: manifest.packs.at(-1)?.id ?? null,
        source,
        ranges: opened.map(({ data }) => data),
        reads: () => mirror.cost.r2Reads,
        landedPacks: 0,
        landedBytes: 0,
        room: mirror.room,
        askedAt: Date.now(),
      }
    }
    throw new MirrorUnavailableError('the mirror does not have all that the branch has yet', null)
  }

  async #place(manifest: Manifest, current: WriterRef | null, source: KeptSource): Promise<BranchPlace> {
    const { ref } = this.#address
    const target = current === null || current.isBroken ? null : current.state.target
    const others = new RefNames(manifest.refs.map(({ name }) => name).filter((name) => name !== ref))
    return {
      ref,
      tip: target === null ? null : await readTip(source, target),
      unreadable: current?.isBroken ? current.state.target : null,
      mayBegin: target === null && ref === `refs/heads/${manifest.defaultBranch}`,
      inTheWay: others.conflictWith(ref),
    }
  }

  #source(packs: readonly PackHandle[]): KeptSource {
    const { did, rkey } = this.#address
    return new KeptSource(`${did}/${rkey}`, new PackedObjects(packs))
  }

  async #isAncestor(mirror: Mirror, ancestor: string, commit: string): Promise<boolean> {
    const { graph } = await this.#ask(mirror).then(({ packs }) => ({ graph: RepositoryGraph.of(packs) }))
    const [older, newer] = [graph.find(ancestor), graph.find(commit)]
    return older >= 0 && newer >= 0 && mergeBases(graph, [older], [newer]).includes(older)
  }

  #cost({ packs, reads }: Known, packBytes: number): LandingCost {
    const r2Reads = reads() - this.#reads
    this.#reads += r2Reads
    return { packs: packs.length, packBytes, r2Reads }
  }

  #landing({ state, head }: Known, { tip }: Fold): Omit<Landing, 'pack'> {
    const { did, pds, rkey, ref } = this.#address
    const move = { name: ref, from: state, target: tip?.commit ?? null, peeled: null }
    return { did, pds, repo: rkey, create: null, moves: [move], atomic: true, head }
  }

  async #land(
    known: Known,
    fold: Fold,
    landing: Landing,
    made: { readonly pack: TakenPack; readonly bytes: Uint8Array } | null,
  ): Promise<LandOutcome> {
    const mirror = this.#mirror()
    let isTakenOver = false
    const writer = accountWriterOf(this.#deps.environment, this.#address.did)
    let blocked: MirrorRefusedError | null = null
    const deps = {
      writer: {
        land: async (wanted: Landing) => {
          const answer = await writer.land(wanted)
          if (!answer.ok && answer.reason === 'blocked') {
            blocked = new MirrorRefusedError({ reason: 'blocked', message: answer.message })
          }
          return answer
        },
      },
      mirror: {
        land: async (...landed: Parameters<Mirror['land']>) => {
          await mirror.land(...landed)
          isTakenOver = true
        },
        refresh: () => mirror.refresh(),
      },
      noteRepository: async () => undefined,
      waitUntil: (work: Promise<unknown>) => this.#deps.waitUntil(work),
    }
    const result = await landInAccount(deps, landing, made?.pack ?? null)
    if (blocked !== null) throw blocked
    const outcome = outcomeOf(result)
    if (outcome.state === 'failed') return outcome
    this.#known = null
    const [move] = result.moves
    if (move?.outcome !== 'landed') return outcome
    this.#landedSeq = move.state.seq
    // Where the mirror has not got it, what is made next could come to lie before what it stands on.
    if (isTakenOver) this.#known = this.#after(known, fold, move.state, result, made)
    for (const range of known.ranges) range.letGo()
    return outcome
  }

  /** What is known after a landing. */
  #after(
    known: Known,
    fold: Fold,
    state: RefState,
    { head, headNeeds }: LandingResult,
    made: { readonly pack: TakenPack; readonly bytes: Uint8Array } | null,
  ): Known {
    const moved = {
      ...known,
      place: { ...known.place, tip: fold.tip, unreadable: null, mayBegin: fold.tip === null && known.place.mayBegin },
      state,
      // With a newer head refs could be created that are there already, and that are not known here.
      head: headNeeds.length === 0 ? head : known.head,
    }
    if (made === null) return moved
    const packs = [...known.packs, { ...made.pack.files, data: new BufferRange(made.bytes) }]
    const source = this.#source(packs)
    for (const object of fold.objects) source.keep(object.oid, object)
    return {
      ...moved,
      packs,
      newest: made.pack.id,
      source,
      landedPacks: known.landedPacks + 1,
      landedBytes: known.landedBytes + made.bytes.length,
    }
  }
}

/** @throws {@link MirrorRefusedError} where a pack of so many bytes is more than may be */
function requireRoom({ room, landedBytes }: Known, bytes: number): void {
  if (room === null || bytes <= room.bytes - landedBytes) return
  throw new MirrorRefusedError({ reason: 'over-cap', message: room.message })
}

function isUsable({ landedPacks, landedBytes, askedAt }: Known): boolean {
  const { packs, packBytes } = KEPT_IN_MEMORY
  return landedPacks < packs && landedBytes < packBytes && Date.now() - askedAt < KNOWN_FOR
}

function positionOf({ place, state, packs, source }: Known, freshness: Freshness): BranchPosition {
  const stored = { objects: source, graph: async () => RepositoryGraph.of(packs) }
  return { place, stored, seq: state?.seq ?? null, freshness }
}

function outcomeOf({ moves: [move], failure }: LandingResult): LandOutcome {
  if (move?.outcome === 'landed') return { state: 'landed' }
  // One that was refused for another ref's sake has lost too: that ref was not there when it was made.
  if (move?.outcome === 'lost' || failure === null) return { state: 'lost' }
  return { state: 'failed', ...failure }
}

import { type Landing, type RefMove, reliesOnHead } from '../account/landing.ts'
import type { Write } from '../pds/write.ts'
import { PACK_COLLECTION, REF_COLLECTION, REFS_COLLECTION, REPO_COLLECTION } from '../records/collections.ts'
import { encodePackRecord } from '../records/pack-record.ts'
import { refKey, refsKey } from '../records/record-keys.ts'
import type { RefEntry } from '../records/record-types.ts'
import { encodeRefRecord, encodeRefsRecord } from '../records/ref-record.ts'
import { encodeRepoRecord } from '../records/repo-record.ts'
import { HEAD_SHARD } from './merge.ts'
import type { RefState } from './ref-state.ts'

/**
 * Turns moves of refs into writes that fail when somebody else was first (`docs/storage.md`, "Moving a ref"):
 *
 * - a loose ref at seq s: delete `…:s`, create `…:s+1`;
 * - a packed ref at seq s: create `…:s+1`; a ref that never existed: create `…:1`, or, where there are many of them,
 *   entries of new shards.
 *
 * The second kind relies on there being no loose record of the name, which its key alone does not guard: the ref may
 * have been created and moved on meanwhile, and `…:1` be free again. So each write of that kind also moves the head,
 * and a writer with an old view fails on it. So does one that brings a deleted ref back: whatever makes a name appear
 * has to know all names, since git can have `a` or `a/b` and not both.
 */

export interface PlanLimits {
  /** Writes in one applyWrites. */
  readonly writes: number
  /** Bytes of its JSON. */
  readonly bytes: number
  /** More new refs than this in one landing become entries of shards. */
  readonly looseCreations: number
  /** Entries of one shard. */
  readonly shardEntries: number
}

/**
 * The reference PDS takes 200 writes and 1,000,000 bytes; the rest of the bytes is for the envelope. A shard of 500
 * entries has about 100 KB.
 */
export const PLAN_LIMITS: PlanLimits = { writes: 200, bytes: 990_000, looseCreations: 8, shardEntries: 500 }

/** Shards that one landing may add: their numbers are derived from the head's new seq, which is used once. */
const SHARDS_PER_HEAD = 64

/** A move, and the ref as it will be when the move has landed. */
export interface PlannedMove {
  readonly move: RefMove
  readonly state: RefState
}

/** The content of one applyWrites. */
export interface Batch {
  readonly writes: readonly Write[]
  readonly moves: readonly PlannedMove[]
  /** Whether the repository's record and the pack are in this one. */
  readonly opens: boolean
  /** Whether it moves the head: after a failure the shards are to be read again too. */
  readonly movesHead: boolean
  /** Seq of the head when it has landed. */
  readonly head: number | null
}

export interface PlanRequest {
  readonly landing: Landing
  /** Those of the landing's moves that are still to be made, with what is known of their refs by now. */
  readonly moves: readonly RefMove[]
  /** Whether the repository's record and the pack are still to be written. */
  readonly opens: boolean
  readonly head: number | null
  /** TID that marks this landing's records. */
  readonly landingId: string
}

/** Bytes of JSON around the value of a write: type, collection, key. */
const WRITE_OVERHEAD = 200

/** Writes that belong together, and what they are for. */
interface Unit {
  readonly writes: readonly Write[]
  readonly moves: readonly PlannedMove[]
  readonly movesHead: boolean
  /** Entries of a new shard, whose number is known only when the batch is made. */
  readonly shard: readonly RefEntry[] | null
  readonly bytes: number
}

/** Splits a landing into as few applyWrites as hold it; the pack is in the first. */
export function planLanding(request: PlanRequest, limits: PlanLimits = PLAN_LIMITS): Batch[] {
  const { landing, landingId } = request
  const opening = request.opens ? openingWrites(landing) : []
  const batches: Batch[] = []
  let open = new OpenBatch(opening, request.opens, limits)
  let head = request.head
  const close = () => {
    const batch = open.close(landing, landingId, head)
    head = batch.head
    batches.push(batch)
    open = new OpenBatch([], false, limits)
  }
  for (const unit of planUnits(request, limits)) {
    if (!open.isEmpty && !open.fits(unit)) close()
    open.add(unit)
  }
  if (!open.isEmpty) close()
  return batches
}

function openingWrites({ create, pack, repo }: Landing): Write[] {
  const writes: Write[] = []
  if (create)
    writes.push({ action: 'create', collection: REPO_COLLECTION, rkey: repo, value: encodeRepoRecord(create) })
  if (pack) {
    writes.push({
      action: 'create',
      collection: PACK_COLLECTION,
      rkey: pack.rkey,
      value: encodePackRecord(pack.record),
    })
  }
  return writes
}

/** Gathers units up to the limits. The head's writes are two at most, and small: they are counted from the start. */
class OpenBatch {
  readonly #limits: PlanLimits
  readonly #opening: readonly Write[]
  readonly #opens: boolean
  readonly #units: Unit[] = []
  #writes: number
  #bytes: number
  #shards = 0

  constructor(opening: readonly Write[], opens: boolean, limits: PlanLimits) {
    this.#opening = opening
    this.#opens = opens
    this.#limits = limits
    this.#writes = opening.length + 2
    this.#bytes = byteLength(opening)
  }

  get isEmpty(): boolean {
    return this.#opening.length === 0 && this.#units.length === 0
  }

  fits(unit: Unit): boolean {
    return (
      this.#writes + unit.writes.length + (unit.shard ? 1 : 0) <= this.#limits.writes &&
      this.#bytes + unit.bytes <= this.#limits.bytes &&
      this.#shards + (unit.shard ? 1 : 0) <= SHARDS_PER_HEAD
    )
  }

  add(unit: Unit): void {
    this.#units.push(unit)
    this.#writes += unit.writes.length + (unit.shard ? 1 : 0)
    this.#bytes += unit.bytes
    if (unit.shard) this.#shards++
  }

  close(landing: Landing, landingId: string, head: number | null): Batch {
    const shards = this.#units.flatMap(({ shard }) => (shard ? [shard] : []))
    const createsRepository = this.#opens && landing.create !== null
    const movesHead = createsRepository || this.#units.some((unit) => unit.movesHead)
    const nextHead = movesHead ? (head ?? 0) + 1 : head
    const headWrites = movesHead ? moveHead(landing.repo, head, landingId) : []
    const shardNumber = (index: number) => nextHead! * SHARDS_PER_HEAD + index
    const shardWrites = shards.map((entries, index): Write => {
      const rkey = refsKey(landing.repo, shardNumber(index), 1)
      return {
        action: 'create',
        collection: REFS_COLLECTION,
        rkey,
        value: encodeRefsRecord({ entries, landing: landingId }),
      }
    })
    let shardsSeen = 0
    const moves = this.#units.flatMap((unit) => {
      if (!unit.shard) return unit.moves
      const shard = shardNumber(shardsSeen++)
      return unit.moves.map(({ move, state }) => ({
        move,
        state: { ...state, at: { kind: 'packed' as const, shard, shardSeq: 1 } },
      }))
    })
    const writes = [...this.#opening, ...headWrites, ...this.#units.flatMap((unit) => unit.writes), ...shardWrites]
    return { writes, moves, opens: this.#opens, movesHead, head: nextHead }
  }
}

/** A repository of a writer that knows nothing of heads gets one. */
function moveHead(repo: string, head: number | null, landing: string): Write[] {
  const collection = REFS_COLLECTION
  const value = encodeRefsRecord({ entries: [], landing })
  const create: Write = { action: 'create', collection, rkey: refsKey(repo, HEAD_SHARD, (head ?? 0) + 1), value }
  return head === null ? [create] : [{ action: 'delete', collection, rkey: refsKey(repo, HEAD_SHARD, head) }, create]
}

function planUnits(request: PlanRequest, limits: PlanLimits): Unit[] {
  const { landing, moves, landingId } = request
  const packKey = landing.pack?.rkey ?? null
  const created = moves.filter((move) => move.from === null)
  const packs = created.length > limits.looseCreations
  const loose = packs ? moves.filter((move) => move.from !== null) : moves
  const units = loose.map((move) => planLoose(landing.repo, move, packKey, landingId))
  if (packs) units.push(...planShards(created, packKey, landingId, limits))
  return units
}

function planLoose(repo: string, move: RefMove, pack: string | null, landing: string): Unit {
  const { name, from } = move
  const state = plannedState(move, pack)
  const collection = REF_COLLECTION
  const value = encodeRefRecord({ ...refEntry(state), landing })
  const writes: Write[] = [{ action: 'create', collection, rkey: refKey(repo, name, state.seq), value }]
  const isLoose = from?.at.kind === 'loose'
  if (isLoose) writes.unshift({ action: 'delete', collection, rkey: refKey(repo, name, from.seq) })
  return { writes, moves: [{ move, state }], movesHead: reliesOnHead(move), shard: null, bytes: byteLength(writes) }
}

function planShards(created: readonly RefMove[], pack: string | null, landing: string, limits: PlanLimits): Unit[] {
  const units: Unit[] = []
  for (let i = 0; i < created.length; i += limits.shardEntries) {
    const moves = created.slice(i, i + limits.shardEntries).map((move) => ({ move, state: plannedState(move, pack) }))
    const shard = moves.map(({ state }) => refEntry(state))
    const bytes = WRITE_OVERHEAD + Buffer.byteLength(JSON.stringify(encodeRefsRecord({ entries: shard, landing })))
    units.push({ writes: [], moves, movesHead: true, shard, bytes })
  }
  return units
}

function plannedState({ name, from, target, peeled }: RefMove, pack: string | null): RefState {
  const needed = target === null ? null : pack
  return { name, target, peeled, seq: (from?.seq ?? 0) + 1, pack: needed, at: { kind: 'loose' } }
}

/** The record's form of a ref. */
export function refEntry({ name, target, peeled, seq, pack }: RefState): RefEntry {
  return { name, target, ...(peeled === null ? {} : { peeled }), seq, ...(pack === null ? {} : { pack }) }
}

function byteLength(writes: readonly Write[]): number {
  return writes.reduce(
    (sum, write) =>
      sum + WRITE_OVERHEAD + (write.action === 'delete' ? 0 : Buffer.byteLength(JSON.stringify(write.value))),
    0,
  )
}

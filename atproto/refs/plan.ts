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

/** New shards of a repository in one batch: their numbers are derived from the head's new seq, which is used once. */
const SHARDS_PER_HEAD = 64

/** A move, and the ref as it will be when the move has landed. */
export interface PlannedMove {
  readonly move: RefMove
  readonly state: RefState
}

/** What is still to be written of one landing, cut into pieces that cannot be split.. */
export interface LandingPlan {
  readonly landing: Landing
  /** TID that marks this landing's records. */
  readonly landingId: string
  readonly head: number | null
  /** The repository's record and the pack; null: they are written, or there are none. They go with the first unit. */
  readonly opening: Unit | null
  readonly units: readonly Unit[]
}

/** What one applyWrites does for one of its landings. */
export interface BatchPart {
  readonly moves: readonly PlannedMove[]
  /** How many of the plan's units are in it, from the first on. */
  readonly units: number
  /** Whether the repository's record and the pack are in it. */
  readonly opens: boolean
  /** Whether it relies on the head: after a failure the shards are to be read again too. */
  readonly movesHead: boolean
  /** Seq of the head when it has landed. */
  readonly head: number | null
}

/** The content of one applyWrites. */
export interface Batch {
  readonly writes: readonly Write[]
  /** In the order in which the landings were added. */
  readonly parts: readonly BatchPart[]
}

/** Bytes of JSON around the value of a write: type, collection, key. */
const WRITE_OVERHEAD = 200
/** To move a head: two writes, and a record without entries. */
const HEAD_WRITES = 2
const HEAD_BYTES = HEAD_WRITES * WRITE_OVERHEAD + 100

/** Writes that belong together, and what they are for. */
export interface Unit {
  readonly writes: readonly Write[]
  readonly moves: readonly PlannedMove[]
  readonly movesHead: boolean
  /** Entries of a new shard, whose number is known only when the batch is made. */
  readonly shard: readonly RefEntry[] | null
  readonly bytes: number
}

/** The repository's record and the pack, as far as a landing has them; null where it has neither. */
export function planOpening({ create, pack, repo }: Landing): Unit | null {
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
  return writes.length === 0
    ? null
    : { writes, moves: [], movesHead: create !== null, shard: null, bytes: byteLength(writes) }
}

/** What a landing takes of a batch. */
export interface Size {
  readonly writes: number
  /** Of JSON. */
  readonly bytes: number
}

/**
 * What a landing takes at least: known without its plan, which has the pack once more, as base64.
 *
 * @param opens whether the repository's record and the pack are still to be written
 */
export function leastSize(
  { create, pack }: Landing,
  moves: readonly RefMove[],
  opens: boolean,
  limits: PlanLimits = PLAN_LIMITS,
): Size {
  const isPacked = moves.length > limits.looseCreations
  const opening = opens ? Number(create !== null) + Number(pack !== null) : 0
  const loose = isPacked ? 1 : moves.reduce((sum, { from }) => sum + (from?.at.kind === 'loose' ? 2 : 1), 0)
  const packBytes = opens ? Math.ceil((pack?.record.bytes?.length ?? 0) / 3) * 4 : 0
  return { writes: opening + loose, bytes: packBytes + (opening + loose) * WRITE_OVERHEAD }
}

/** The writes of a landing's moves. @param moves with what is known of their refs by now */
export function planMoves(
  landing: Landing,
  moves: readonly RefMove[],
  landingId: string,
  limits: PlanLimits = PLAN_LIMITS,
): Unit[] {
  const packKey = landing.pack?.rkey ?? null
  const created = moves.filter((move) => move.from === null)
  const packs = created.length > limits.looseCreations
  const loose = packs ? moves.filter((move) => move.from !== null) : moves
  const units = loose.map((move) => planLoose(landing.repo, move, packKey, landingId))
  if (packs) units.push(...planShards(created, packKey, landingId, limits))
  return units
}

/** What a batch has of one landing, before the numbers of new shards are known. */
interface AddedPart {
  readonly plan: LandingPlan
  readonly pieces: readonly Unit[]
  readonly movesHead: boolean
}

/** What a batch would have with a landing in it. */
interface Fit extends Size {
  /** Pieces of the landing that fit. */
  readonly count: number
}

/**
 * One applyWrites for several landings, of one or several repositories of an account. Those of one repository share one
 * move of its head, so they have to know the same one.
 */
export class BatchBuilder {
  readonly #limits: PlanLimits
  readonly #added: AddedPart[] = []
  readonly #repositories = new Map<string, AddedPart[]>()
  #writes = 0
  #bytes = 0

  constructor(limits: PlanLimits = PLAN_LIMITS) {
    this.#limits = limits
  }

  /** Whether all of a landing may fit in, by what it takes at least. */
  hasRoom(repo: string, least: Size): boolean {
    const { writes, bytes } = this.#start(this.#repositories.has(repo))
    return writes + least.writes <= this.#limits.writes && bytes + least.bytes <= this.#limits.bytes
  }

  /**
   * Adds as much of a landing as fits; into an empty batch always something, or it could never be written.
   *
   * @param whole all of it, or nothing is added
   * @returns whether anything was
   */
  add(plan: LandingPlan, { whole }: { whole: boolean }): boolean {
    const pieces = plan.opening === null ? plan.units : [plan.opening, ...plan.units]
    const beside = this.#repositories.get(plan.landing.repo) ?? []
    const { count, writes, bytes } = this.#fit(pieces, beside)
    if (count === 0 || (whole && count < pieces.length)) return false
    const taken = pieces.slice(0, count)
    const movesHead = taken.some((piece) => piece.movesHead)
    if (movesHead && beside.some((part) => part.movesHead && part.plan.head !== plan.head)) return false
    const part = { plan, pieces: taken, movesHead }
    this.#added.push(part)
    this.#repositories.set(plan.landing.repo, [...beside, part])
    this.#writes = writes
    this.#bytes = bytes
    return true
  }

  close(): Batch {
    const writes: Write[] = []
    const parts = new Map<AddedPart, BatchPart>()
    for (const added of this.#repositories.values()) {
      const planned = planRepository(added)
      writes.push(...planned.writes)
      for (const [index, part] of added.entries()) parts.set(part, planned.parts[index]!)
    }
    return { writes, parts: this.#added.map((part) => parts.get(part)!) }
  }

  /** What is taken before anything of another landing is in. The head's writes are small: every repository has them. */
  #start(isBeside: boolean): Size {
    return isBeside
      ? { writes: this.#writes, bytes: this.#bytes }
      : { writes: this.#writes + HEAD_WRITES, bytes: this.#bytes + HEAD_BYTES }
  }

  #fit(pieces: readonly Unit[], beside: readonly AddedPart[]): Fit {
    let { writes, bytes } = this.#start(beside.length > 0)
    let shards = beside.flatMap((part) => part.pieces).filter(({ shard }) => shard !== null).length
    let count = 0
    for (const piece of pieces) {
      const next = {
        writes: writes + piece.writes.length + (piece.shard ? 1 : 0),
        bytes: bytes + piece.bytes,
        shards: shards + (piece.shard ? 1 : 0),
      }
      const fits =
        next.writes <= this.#limits.writes && next.bytes <= this.#limits.bytes && next.shards <= SHARDS_PER_HEAD
      if (!fits && (count > 0 || this.#added.length > 0)) break
      count++
      ;({ writes, bytes, shards } = next)
    }
    return { count, writes, bytes }
  }
}

/** The writes of all landings of one repository in a batch, and what is in it of each. */
function planRepository(added: readonly AddedPart[]): { writes: Write[]; parts: BatchPart[] } {
  const mover = added.find(({ movesHead }) => movesHead)
  const nextHead = mover === undefined ? null : (mover.plan.head ?? 0) + 1
  const openings: Write[] = []
  const loose: Write[] = []
  const packed: Write[] = []
  const parts = added.map(({ plan, pieces, movesHead }): BatchPart => {
    const { landing, landingId, opening } = plan
    const moves: PlannedMove[] = []
    for (const piece of pieces) {
      ;(piece === opening ? openings : loose).push(...piece.writes)
      if (piece.shard === null) {
        moves.push(...piece.moves)
        continue
      }
      const shard = nextHead! * SHARDS_PER_HEAD + packed.length
      packed.push({
        action: 'create',
        collection: REFS_COLLECTION,
        rkey: refsKey(landing.repo, shard, 1),
        value: encodeRefsRecord({ entries: piece.shard, landing: landingId }),
      })
      const at = { kind: 'packed' as const, shard, shardSeq: 1 }
      moves.push(...piece.moves.map(({ move, state }) => ({ move, state: { ...state, at } })))
    }
    const opens = opening !== null && pieces.includes(opening)
    const units = pieces.length - (opens ? 1 : 0)
    return { moves, units, opens, movesHead, head: movesHead ? nextHead : plan.head }
  })
  const heads = mover === undefined ? [] : moveHead(mover.plan.landing.repo, mover.plan.head, mover.plan.landingId)
  return { writes: [...openings, ...heads, ...loose, ...packed], parts }
}

/** A repository of a writer that knows nothing of heads gets one. */
function moveHead(repo: string, head: number | null, landing: string): Write[] {
  const collection = REFS_COLLECTION
  const value = encodeRefsRecord({ entries: [], landing })
  const create: Write = { action: 'create', collection, rkey: refsKey(repo, HEAD_SHARD, (head ?? 0) + 1), value }
  return head === null ? [create] : [{ action: 'delete', collection, rkey: refsKey(repo, HEAD_SHARD, head) }, create]
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

import { Bitmap } from '../bytes/bitmap.ts'
import { MemoryAccount } from '../bytes/memory-account.ts'
import { OID_BYTES } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { asPackError } from './as-pack-error.ts'
import { COPY, DELTA_BY_ID, DELTA_IN_PACK, type SendMode, type SendModes } from './delta-bases.ts'
import type { EarlierParts } from './earlier-parts.ts'
import { EntryIds } from './entry-ids.ts'
import { indexScanned } from './index-scanned.ts'
import { KeptDeltas } from './kept-deltas.ts'
import { PackIndex, placeEntries } from './pack-index.ts'
import { PACK_LIMITS, type PackLimits } from './pack-limits.ts'
import { resolveDeltas } from './resolve-deltas.ts'
import { type PackPart, scanPart } from './scan-pack.ts'
import { PackWriter } from './write-pack.ts'

/** Bytes of the pack read at a time. */
const PIECE_BYTES = 1024 * 1024

export interface CutOptions {
  /** The whole pack, and which of its entries make the new one. */
  readonly whole: ByteRange
  readonly part: Omit<PackPart, 'idsAt'>
  /** What there is already. */
  readonly earlier: EarlierParts
  /** Takes the new pack's bytes, one chunk after the other. */
  readonly write: (chunk: Uint8Array) => Promise<void>
  readonly onProgress?: (phase: 'receiving' | 'resolving', done: number, total: number) => void
  /** Where the buffers held are entered, and added up as the work goes on. */
  readonly memory?: MemoryAccount
  /** Defaults to {@link PACK_LIMITS}. */
  readonly limits?: PackLimits
}

/** A part of a pack as a pack of its own. */
export interface CutPack {
  readonly entries: number
  /** Bytes of the new pack. */
  readonly size: number
  /** Its index file (see PackIndex). */
  readonly index: Uint8Array
  /** entries + 1: where each started in the whole pack, and where the last one ended. */
  readonly offsets: Float64Array
  /** See CutPart: of the bases that are not in it. */
  readonly bases: Uint32Array
}

/**
 * Makes a pack of a part of another: entries are copied as they are, but for the headers of deltas whose base comes
 * before the part; those name it by its id then, so that the new pack is thin.
 *
 * @throws {@link PackError}, {@link MissingBaseError}
 */
export async function cutPack(options: CutOptions): Promise<CutPack> {
  try {
    return await cut({ ...options, memory: options.memory ?? new MemoryAccount(Number.POSITIVE_INFINITY) })
  } catch (error) {
    throw asPackError(error)
  }
}

async function cut(options: CutOptions & { readonly memory: MemoryAccount }): Promise<CutPack> {
  const { whole, memory } = options
  const file = await indexPart(options)
  const index = new PackIndex(file)
  const { entries } = index
  const offsets = Float64Array.from({ length: entries + 1 }, (_, ordinal) => index.offset(ordinal))
  const positions = new Float64Array(entries + 1)
  const held = memory.enter({ heldBytes: index.byteLength + 2 * offsets.byteLength })
  const modes = new PartModes(index)
  let entry = 0
  const writer = new PackWriter([{ index, data: whole }], [modes.selection], modes, {
    ofsDelta: true,
    objects: NO_OBJECTS,
    memory,
    onEntry: (_pack, _ordinal, position) => {
      positions[entry++] = position
    },
  })
  for await (const chunk of writer.write(entries)) await options.write(chunk)
  memory.leave(writer)
  memory.leave(held)
  positions[entries] = writer.position - OID_BYTES
  placeEntries(file, positions, writer.position)
  const bases = options.earlier.numbersOf(index.externalBases)
  return { entries, size: writer.position, index: file, offsets, bases }
}

/** The index file of the entries where they lie in the whole pack. */
async function indexPart({
  whole,
  part,
  earlier,
  onProgress,
  memory,
  limits = PACK_LIMITS,
}: CutOptions & { readonly memory: MemoryAccount }): Promise<Uint8Array> {
  const ids = new EntryIds()
  const deltas = new KeptDeltas(limits.keptDeltaBytes)
  const piece = { heldBytes: PIECE_BYTES }
  for (const holder of [deltas, ids, piece]) memory.enter(holder)
  const idsAt = (offsets: Float64Array) => earlier.idsAt(offsets)
  const setId = (ordinal: number, oid: Uint8Array) => ids.set(ordinal, oid)
  const visitor = {
    object: (ordinal: number, _type: number, oid: Uint8Array) => setId(ordinal, oid),
    largeBlob: setId,
  }
  const report = (phase: 'receiving' | 'resolving') => (done: number, total: number) => {
    memory.check()
    onProgress?.(phase, done, total)
  }
  const scan = await scanPart(
    whole.pieces(part.start, whole.size - part.start, PIECE_BYTES),
    { ...part, idsAt },
    {
      visitor,
      keepDelta: (ordinal, delta) => deltas.keep(ordinal, delta),
      onProgress: report('receiving'),
      limits,
      memory,
    },
  )
  memory.leave(piece)
  memory.enter(scan)
  await earlier.find(scan.baseIds)
  const resolved = await resolveDeltas({
    ...{ scan, ids, pack: whole, deltas, store: earlier, visitor, limits, memory },
    onProgress: report('resolving'),
  })
  memory.leave(deltas)
  const index = indexScanned(scan, resolved, ids, whole.size, memory)
  memory.leave(scan)
  memory.leave(ids)
  return index
}

/** Copies all entries of a part: a base is either among them or came before. */
class PartModes implements SendModes {
  readonly selection: Bitmap
  readonly #index: PackIndex

  constructor(index: PackIndex) {
    this.#index = index
    this.selection = new Bitmap(index.entries)
    for (let ordinal = 0; ordinal < index.entries; ordinal++) this.selection.set(ordinal)
  }

  mode(_pack: number, ordinal: number): SendMode {
    if (!this.#index.isDelta(ordinal)) return COPY
    return this.#index.baseOrdinal(ordinal) < 0 ? DELTA_BY_ID : DELTA_IN_PACK
  }
}

/** Nothing is sent otherwise than it lies in the pack. */
const NO_OBJECTS: ObjectSource = { read: async () => null, stat: async () => null }

import { deflateSync } from 'node:zlib'
import type { Bitmap } from '../bytes/bitmap.ts'
import type { MemoryAccount } from '../bytes/memory-account.ts'
import { type Oid, oidToBytes } from '../bytes/oid.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { type ClientKnowledge, COPY, DELTA_IN_PACK, DeltaBases, type SendModes, WHOLE } from './delta-bases.ts'
import {
  createEntryHeader,
  ENTRY_HEADER_LIMIT,
  encodeEntryHeader,
  OFS_DELTA,
  PackError,
  readEntryHeader,
  withBaseId,
  withDistance,
} from './entry-header.ts'
import { entrySpans } from './entry-spans.ts'
import { countSelected, type Selection } from './object-place.ts'
import type { PackIndex } from './pack-index.ts'
import { PackSink } from './pack-sink.ts'
import type { ReadablePack } from './packed-objects.ts'
import { PartWindow } from './part-window.ts'
import { ReadAhead, type Span } from './read-ahead.ts'

export interface WritePackOptions {
  /** Whether the client can read deltas that say how far back their base is. */
  readonly ofsDelta: boolean
  /** What the client has, for a thin pack: deltas may stand on it. Null: the pack stands alone. */
  readonly client: ClientKnowledge | null
  /** Where objects are read that must be sent whole because the base of their delta is not sent. */
  readonly objects: ObjectSource
  /** Where the buffers held are entered, and added up with every chunk. */
  readonly memory?: MemoryAccount
  /** Called for every chunk with the objects and bytes so far. */
  readonly onProgress?: (objects: number, bytes: number) => void
}

export interface WrittenPack {
  readonly objects: number
  /** Whether the bytes are those of a stored pack, unchanged. */
  readonly verbatim: boolean
  /**
   * The pack, in chunks of about a megabyte, each made when it is asked for. They may be views of what others use as
   * well: they must not be changed or transferred. One is there until the next is asked for. Can be read once.
   */
  chunks(): AsyncGenerator<Uint8Array, void, undefined>
}

/**
 * Makes a pack of objects that lie in other packs. Their entries are copied as they are, compressed; a header is
 * rewritten only where a delta's base has moved against it.
 *
 * @param packs oldest first
 * @param selection what to send, each object once, in the oldest pack that has it
 */
export function writePack(
  packs: readonly ReadablePack[],
  selection: Selection,
  options: WritePackOptions,
): WrittenPack {
  const objects = countSelected(selection)
  const bases = new DeltaBases(packs, selection, options.client)
  const whole = options.ofsDelta ? findWholePack(packs, selection, objects, bases) : null
  return {
    objects,
    verbatim: whole !== null,
    chunks: () =>
      whole === null
        ? new PackWriter(packs, selection, bases, options).write(objects)
        : copyPack(whole, objects, options),
  }
}

/** The pack all of whose entries are wanted, and nothing else, and which needs no change. */
function findWholePack(
  packs: readonly ReadablePack[],
  selection: Selection,
  objects: number,
  bases: DeltaBases,
): ReadablePack | null {
  const pack = selection.findIndex((ordinals) => ordinals.next(0) >= 0)
  const candidate = packs[pack]
  if (candidate === undefined || candidate.index.entries !== objects || selection[pack]!.count() !== objects)
    return null
  for (let ordinal = 0; ordinal < objects; ordinal++) if (bases.mode(pack, ordinal) === WHOLE) return null
  return candidate
}

async function* copyPack(
  { data }: ReadablePack,
  objects: number,
  { onProgress, memory }: WritePackOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const parts = new ReadAhead(data, [{ start: 0, end: data.size }])
  memory?.enter(parts)
  try {
    for (let part = await parts.next(); part !== null; part = await parts.next()) {
      const bytes = part.offset + part.bytes.length
      memory?.check()
      onProgress?.(Math.floor((objects * bytes) / data.size), bytes)
      yield part.bytes
    }
  } finally {
    parts.close()
  }
}

/** What a {@link PackWriter} must know beside what it writes. */
export type PackWriterOptions = Pick<WritePackOptions, 'ofsDelta' | 'objects' | 'memory' | 'onProgress'> & {
  /** Called for every entry with where it starts in the pack that is written. */
  readonly onEntry?: (pack: number, ordinal: number, position: number) => void
}

/** Writes the entries of a selection, pack by pack, each in the order in which they lie there. */
export class PackWriter {
  readonly #packs: readonly ReadablePack[]
  readonly #selection: Selection
  readonly #modes: SendModes
  readonly #options: PackWriterOptions
  readonly #sink = new PackSink()
  readonly #header = createEntryHeader()
  #objects = 0
  #parts: ReadAhead | null = null
  #written = new Float64Array(0)

  constructor(packs: readonly ReadablePack[], selection: Selection, modes: SendModes, options: PackWriterOptions) {
    this.#packs = packs
    this.#selection = selection
    this.#modes = modes
    this.#options = options
  }

  /** What is read, what is gathered, and the table of the pack that is copied now. */
  get heldBytes(): number {
    return this.#sink.heldBytes + (this.#parts?.heldBytes ?? 0) + this.#written.byteLength
  }

  /** Bytes written so far, those of the trailer at the end. */
  get position(): number {
    return this.#sink.position
  }

  /** The pack; its chunks as those of {@link WrittenPack.chunks}. */
  async *write(objects: number): AsyncGenerator<Uint8Array, void, undefined> {
    this.#options.memory?.enter(this)
    this.#sink.header(objects)
    for (let pack = 0; pack < this.#packs.length; pack++) yield* this.#writePack(pack)
    yield* this.#report(this.#sink.end())
  }

  async *#writePack(pack: number): AsyncGenerator<Uint8Array, void, undefined> {
    const ordinals = this.#selection[pack]!
    if (ordinals.next(0) < 0) return
    const { index, data } = this.#packs[pack]!
    const parts = new ReadAhead(data, entrySpans(index, ordinals))
    this.#parts = parts
    try {
      yield* this.#writeEntries(pack, ordinals, new PartWindow(parts))
    } finally {
      // The client has gone, or what was left of the pack is sent whole and was not read.
      parts.close()
    }
  }

  /**
   * Goes over a pack in runs: entries that follow one another there and need no change are copied as one. A delta needs
   * none if its base has moved as far as it has itself.
   */
  async *#writeEntries(
    pack: number,
    ordinals: Bitmap,
    window: PartWindow,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { index } = this.#packs[pack]!
    /** Where each entry starts in the pack that is written. */
    const written = new Float64Array(index.entries)
    this.#written = written
    let run: Span = { start: 0, end: 0 }
    for (let ordinal = ordinals.next(0); ordinal >= 0; ordinal = ordinals.next(ordinal + 1)) {
      const start = index.offset(ordinal)
      const end = index.offset(ordinal + 1)
      const position = this.#sink.position + run.end - run.start
      written[ordinal] = position
      this.#options.onEntry?.(pack, ordinal, position)
      const mode = this.#modes.mode(pack, ordinal)
      const base = index.baseOrdinal(ordinal)
      const distance = mode === DELTA_IN_PACK ? position - written[base]! : 0
      const stays = mode === COPY || (this.#options.ofsDelta && distance > 0 && distance === start - index.offset(base))
      if (stays && start === run.end) {
        run = { start: run.start, end }
      } else {
        if (!this.#copyFromWindow(window, run)) yield* this.#copy(window, run)
        // What is passed on as it was read must be taken before the window moves.
        if (this.#sink.isReady) yield* this.#report(this.#sink.take())
        if (stays) run = { start, end }
        else if (mode === WHOLE) run = await this.#appendWhole(index.oid(ordinal), end)
        else {
          const headerEnd = Math.min(start + ENTRY_HEADER_LIMIT, end)
          const header = window.has(start, headerEnd)
            ? window.view(start, headerEnd)
            : await window.cover(start, headerEnd)
          run = { start: start + this.#appendHeader(header, index, ordinal, distance), end }
        }
      }
      this.#objects++
      if (this.#sink.isReady) yield* this.#report(this.#sink.take())
    }
    yield* this.#copy(window, run)
  }

  /** Copies a run if all of it is at hand, which is so for nearly all short ones. */
  #copyFromWindow(window: PartWindow, run: Span): boolean {
    if (!window.has(run.start, run.end)) return false
    this.#sink.append(window.view(run.start, run.end))
    return true
  }

  async *#copy(window: PartWindow, run: Span): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = run.start; at < run.end; ) {
      await window.moveTo(at)
      const bytes = window.view(at, Math.min(run.end, window.end))
      this.#sink.append(bytes)
      at += bytes.length
      if (this.#sink.isReady) yield* this.#report(this.#sink.take())
    }
  }

  /**
   * Writes a new header in place of that of an ofs-delta.
   *
   * @param distance how far back its base lies in the pack that is written, or 0 if it is not there
   * @returns the length of the header that is replaced
   */
  #appendHeader(bytes: Uint8Array, index: PackIndex, ordinal: number, distance: number): number {
    if (!readEntryHeader(bytes, 0, this.#header)) throw new PackError('an entry is cut off')
    // A ref-delta names its base already.
    if (this.#header.type !== OFS_DELTA) return 0
    const header =
      this.#options.ofsDelta && distance > 0
        ? withDistance(bytes, 0, distance)
        : withBaseId(bytes, 0, baseId(index, ordinal))
    this.#sink.append(header)
    return this.#header.end
  }

  /** @returns the empty run after the entry that is replaced. */
  async #appendWhole(oid: Oid, end: number): Promise<Span> {
    const object = await this.#options.objects.read(oid)
    if (object === null) throw new PackError(`object ${oid} is missing`)
    this.#sink.append(encodeEntryHeader(object.type, object.bytes.length))
    this.#sink.append(deflateSync(object.bytes))
    return { start: end, end }
  }

  *#report(chunks: readonly Uint8Array[]): Generator<Uint8Array, void, undefined> {
    this.#options.memory?.check()
    this.#options.onProgress?.(this.#objects, this.#sink.position)
    yield* chunks
    this.#sink.recycle(chunks)
  }
}

/** The raw id of what a delta is against. */
function baseId(index: PackIndex, ordinal: number): Uint8Array {
  const base = index.base(ordinal)!
  return 'oid' in base ? oidToBytes(base.oid) : index.oidBytes(base.ordinal)
}

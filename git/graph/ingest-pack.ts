import { HeldArrays, MemoryAccount } from '../bytes/memory-account.ts'
import { type Oid, oidFromBytes } from '../bytes/oid.ts'
import type { ByteRange } from '../bytes/range.ts'
import { checkTree } from '../object/check-tree.ts'
import { TREE } from '../object/object-type.ts'
import { asPackError } from '../pack/as-pack-error.ts'
import { PackError } from '../pack/entry-header.ts'
import { EntryIds } from '../pack/entry-ids.ts'
import { indexScanned } from '../pack/index-scanned.ts'
import { KeptDeltas } from '../pack/kept-deltas.ts'
import { PackIndex } from '../pack/pack-index.ts'
import { PACK_LIMITS, type PackLimits } from '../pack/pack-limits.ts'
import { PackedObjects } from '../pack/packed-objects.ts'
import { resolveDeltas } from '../pack/resolve-deltas.ts'
import { type ObjectVisitor, scanPack } from '../pack/scan-pack.ts'
import { buildGraph, type KnownObjects } from './build-graph.ts'
import { ObjectLinks } from './object-links.ts'
import { TreeChildren } from './tree-children.ts'

export type IngestPhase = 'receiving' | 'resolving'

export interface IngestOptions {
  /** Where the buffers held are entered, and added up as the work goes on. */
  readonly memory?: MemoryAccount
  /** The pack as it arrives. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Called once all chunks have been taken: the same bytes, for a second look. */
  readonly reopen: () => Promise<ByteRange>
  /** What the repository holds already: bases of thin packs, and what the pack's objects may point at. */
  readonly known: KnownObjects | null
  /**
   * Refuse what must not enter by a push: objects that cannot be read as what they claim to be, links of another type
   * than they claim, and trees with names that could hurt who checks them out. Odd but readable objects pass, since real
   * histories are full of them. A mirror takes what the account has and leaves out what it cannot read.
   */
  readonly strict: boolean
  readonly onProgress?: (phase: IngestPhase, done: number, total: number) => void
  /** Defaults to {@link PACK_LIMITS}. */
  readonly limits?: PackLimits
}

export interface IngestedPack {
  /** The index file (see PackIndex) and the graph file (see PackGraph). */
  readonly index: Uint8Array
  readonly graph: Uint8Array
  readonly size: number
  readonly objects: number
  /** Hex of the trailer. */
  readonly checksum: string
  readonly thin: boolean
  /** What the pack's objects need and nobody has: the first hundred. */
  readonly missing: readonly Oid[]
  /** Objects that could not be read as what they claim to be, in words: the first hundreds. Empty if `strict`. */
  readonly malformed: readonly string[]
}

/** An object of the pack may not be kept. */
export class ForbiddenObjectError extends PackError {
  override name = 'ForbiddenObjectError'

  constructor(reason: string) {
    super(`object ${reason}`)
  }
}

/**
 * Takes in a pack: scans it as it arrives, resolves its deltas, and makes its index and its graph.
 *
 * @throws {@link PackError} in words for whoever pushed it.
 */
export async function ingestPack(options: IngestOptions): Promise<IngestedPack> {
  try {
    return await ingest(options)
  } catch (error) {
    throw asPackError(error)
  }
}

async function ingest(options: IngestOptions): Promise<IngestedPack> {
  const limits = options.limits ?? PACK_LIMITS
  const memory = options.memory ?? new MemoryAccount(Number.POSITIVE_INFINITY)
  const ids = new EntryIds()
  const links = new ObjectLinks(ids.table, new TreeChildren(ids.table, limits.keptTreeEntries))
  const deltas = new KeptDeltas(limits.keptDeltaBytes)
  // Those whose caches are had again the soonest come first.
  for (const holder of [deltas, links, ids]) memory.enter(holder)
  const report = (phase: IngestPhase, done: number, total: number) => {
    memory.check()
    options.onProgress?.(phase, done, total)
  }
  const visitor: ObjectVisitor = {
    object(ordinal, type, oid, bytes) {
      if (options.strict && type === TREE) {
        const reason = checkTree(bytes)
        if (reason !== null) throw new ForbiddenObjectError(`${oidFromBytes(oid)}: ${reason}`)
      }
      ids.set(ordinal, oid)
      links.add(ordinal, type, oid, bytes)
      if (options.strict && links.malformed.length > 0) throw new ForbiddenObjectError(links.malformed[0]!)
      if (ids.table.size > limits.ids) {
        throw new PackError(`the pack speaks of more than ${limits.ids} objects. Push it in parts`)
      }
    },
    largeBlob(ordinal, oid) {
      ids.set(ordinal, oid)
    },
  }
  const scan = await scanPack(options.chunks, {
    visitor,
    keepDelta: (ordinal, delta) => deltas.keep(ordinal, delta),
    onProgress: (done, total) => report('receiving', done, total),
    limits,
    memory,
  })
  memory.enter(scan)
  const pack = await options.reopen()
  const store = options.known?.objects ?? null
  const resolved = await resolveDeltas({
    scan,
    ids,
    pack,
    deltas,
    store,
    visitor,
    onProgress: (done, total) => report('resolving', done, total),
    limits,
    memory,
  })
  memory.leave(deltas)
  const { entries, size, checksum } = scan
  const index = indexScanned(scan, resolved, ids, size, memory)
  memory.leave(scan)
  const written = memory.enter(new HeldArrays(index, resolved.types))
  const objects = memory.enter(new PackedObjects([{ index: new PackIndex(index), data: pack }], { bases: store }))
  const graph = await buildGraph({ links, ids, types: resolved.types, objects, known: options.known, memory })
  if (options.strict && graph.mistyped.length > 0) throw new ForbiddenObjectError(graph.mistyped[0]!)
  memory.enter(graph)
  const file = graph.write()
  for (const holder of [graph, objects, links, ids, written]) memory.leave(holder)
  memory.enter(new HeldArrays(index, file))
  return {
    index,
    graph: file,
    size,
    objects: entries,
    checksum,
    thin: resolved.external.length > 0,
    missing: graph.missing,
    malformed: [...links.malformed, ...graph.mistyped],
  }
}

import { HeldArrays, MemoryAccount, type MemoryLimitError } from '../bytes/memory-account.ts'
import { OID_BYTES } from '../bytes/oid.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { PackError } from '../pack/entry-header.ts'
import { MergePlan } from '../pack/merge-plan.ts'
import { indexingBytes, writePackIndex } from '../pack/pack-index.ts'
import type { ObjectTooLargeError } from '../pack/packed-entry.ts'
import { PackedObjects, type ReadablePack } from '../pack/packed-objects.ts'
import { PackWriter } from '../pack/write-pack.ts'
import { mergeGraphs } from './merge-graphs.ts'
import type { PackGraph } from './pack-graph.ts'

/** A pack of which the graph is not read before it is asked for. */
export interface MergedPart extends ReadablePack {
  graph(): Promise<PackGraph>
}

/** Where the merged pack and the files beside it go, one after the other. */
export interface MergeTarget {
  /** Takes the pack's bytes, one chunk after the other. */
  write(chunk: Uint8Array): Promise<void>
  /** The pack is whole. */
  end(): Promise<void>
  index(file: Uint8Array): Promise<void>
  graph(file: Uint8Array): Promise<void>
}

export interface MergeOptions {
  /** What the repository has in older packs: bases of thin ones. Asked only where a delta cannot be copied. */
  readonly older: ObjectSource | null
  /** Where the buffers held are entered, those of the target aside. */
  readonly memory?: MemoryAccount
}

/**
 * What a merge holds at most for each object of the packs together, in bytes: their indexes, the numbers that the
 * objects get, and then either what is copied or the tables of the merged index and the index itself. So many objects as
 * fit into memory that way can be merged; graphs that take more than usual may still be too much.
 */
export const MERGE_BYTES_PER_OBJECT = 140

/**
 * Makes one pack of several that follow one another in the repository's list: entries are copied as they are, and the
 * index and the graph are made from those that are there. Nothing is inflated but what cannot stay a delta, which is
 * rare. The merged pack may be thin against older packs as those that it is made of were.
 *
 * @param packs oldest first
 * @throws {@link PackError}, {@link ObjectTooLargeError}, {@link MemoryLimitError}
 */
export async function mergePacks(
  packs: readonly MergedPart[],
  target: MergeTarget,
  { older, memory = new MemoryAccount(Number.POSITIVE_INFINITY) }: MergeOptions = { older: null },
): Promise<{ readonly size: number; readonly objects: number }> {
  const indexes = memory.enter({ heldBytes: packs.reduce((sum, { index }) => sum + index.byteLength, 0) })
  const plan = memory.enter(new MergePlan(packs))
  const offsets = new Float64Array(plan.entries + 1)
  const held = memory.enter(new HeldArrays(offsets))
  memory.check()
  const size = await copyEntries(plan, offsets, target, older, memory)
  await target.end()
  await target.index(indexOf(plan, offsets, size, memory))
  memory.leave(held)
  const graphs = await Promise.all(packs.map((pack) => pack.graph()))
  const read = memory.enter({ heldBytes: graphs.reduce((sum, { byteLength }) => sum + byteLength, 0) })
  await target.graph(mergeGraphs(plan, graphs, memory))
  for (const holder of [indexes, plan, read]) memory.leave(holder)
  return { size, objects: plan.entries }
}

/** @returns the size of the pack. */
async function copyEntries(
  plan: MergePlan,
  offsets: Float64Array,
  target: MergeTarget,
  older: ObjectSource | null,
  memory: MemoryAccount,
): Promise<number> {
  const objects = memory.enter(new PackedObjects(plan.packs, { bases: older }))
  let entry = 0
  const writer = new PackWriter(plan.packs, plan.selection, plan, {
    ofsDelta: true,
    objects,
    memory,
    onEntry: (_pack, _ordinal, position) => {
      offsets[entry++] = position
    },
  })
  for await (const chunk of writer.write(plan.entries)) await target.write(chunk)
  memory.leave(writer)
  memory.leave(objects)
  offsets[plan.entries] = writer.position - OID_BYTES
  return writer.position
}

function indexOf(plan: MergePlan, offsets: Float64Array, packSize: number, memory: MemoryAccount): Uint8Array {
  const { entries } = plan
  const types = new Uint8Array(entries)
  const sizes = new Uint32Array(entries)
  const bases = new Uint32Array(entries)
  const oids = new Uint8Array(entries * OID_BYTES)
  let entry = 0
  for (const [pack, { index }] of plan.packs.entries()) {
    for (const ordinal of plan.selection[pack]!) {
      types[entry] = index.type(ordinal)
      sizes[entry] = index.size(ordinal)
      bases[entry] = plan.base(pack, ordinal)
      oids.set(index.oidBytes(ordinal), entry * OID_BYTES)
      entry++
    }
  }
  const external = plan.external()
  const held = memory.enter(new HeldArrays(types, sizes, bases, oids, external))
  memory.check(indexingBytes({ types, external }))
  const index = writePackIndex({ packSize, offsets, types, sizes, bases, oids, external })
  memory.leave(held)
  return index
}

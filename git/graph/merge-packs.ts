import { OID_BYTES } from '../bytes/oid.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { MergePlan } from '../pack/merge-plan.ts'
import { writePackIndex } from '../pack/pack-index.ts'
import { PackedObjects } from '../pack/packed-objects.ts'
import { PackWriter } from '../pack/write-pack.ts'
import { mergeGraphs } from './merge-graphs.ts'
import type { PackHandle } from './pack-handle.ts'

/** The files beside a pack that was merged. */
export interface MergedPack {
  readonly size: number
  readonly objects: number
  readonly index: Uint8Array
  readonly graph: Uint8Array
}

export interface MergeOptions {
  /** What the repository has in older packs: bases of thin ones. Asked only where a delta cannot be copied. */
  readonly older: ObjectSource | null
}

/**
 * Makes one pack of several that follow one another in the repository's list: entries are copied as they are, and the
 * index and the graph are made from those that are there. Nothing is inflated but what cannot stay a delta, which is
 * rare. The merged pack may be thin against older packs as those that it is made of were.
 *
 * @param packs oldest first
 * @param write is given the pack's bytes one chunk after the other
 * @throws {@link PackError}, {@link ObjectTooLargeError}
 */
export async function mergePacks(
  packs: readonly PackHandle[],
  write: (chunk: Uint8Array) => Promise<void>,
  { older }: MergeOptions = { older: null },
): Promise<MergedPack> {
  const plan = new MergePlan(packs)
  const offsets = new Float64Array(plan.entries + 1)
  let entry = 0
  const writer = new PackWriter(packs, plan.selection, plan, {
    ofsDelta: true,
    objects: new PackedObjects(packs, { bases: older }),
    onEntry: (_pack, _ordinal, position) => {
      offsets[entry++] = position
    },
  })
  for await (const chunk of writer.write(plan.entries)) await write(chunk)
  const size = writer.position
  offsets[plan.entries] = size - OID_BYTES
  const index = indexOf(plan, offsets, size)
  const graph = mergeGraphs(
    plan,
    packs.map((pack) => pack.graph),
  )
  return { size, objects: plan.entries, index, graph }
}

function indexOf(plan: MergePlan, offsets: Float64Array, packSize: number): Uint8Array {
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
  return writePackIndex({ packSize, offsets, types, sizes, bases, oids, external: plan.external() })
}

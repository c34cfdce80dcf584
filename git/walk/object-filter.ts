import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, COMMIT, type ObjectType, TAG, TREE } from '../object/object-type.ts'
import { type IndexedPack, makePlace, type Selection, selects } from '../pack/object-place.ts'
import { SIZE_UNKNOWN } from '../pack/pack-index.ts'

/** What a partial clone leaves out: an object is sent if it passes all parts. (git rev-list, `--filter`.) */
export interface ObjectFilter {
  /** Types that are sent. */
  readonly types: ReadonlySet<ObjectType>
  /** Blobs of at least so many bytes are left out; 0: all blobs. */
  readonly blobLimit: number
  /** Trees and blobs are left out so many levels below a commit: 0 its tree, 1 what lies in that, and so on. */
  readonly treeDepth: number
}

/** Lets everything pass. */
export const NO_FILTER: ObjectFilter = {
  types: new Set([COMMIT, TREE, BLOB, TAG]),
  blobLimit: Number.POSITIVE_INFINITY,
  treeDepth: Number.POSITIVE_INFINITY,
}

/** The filter that lets pass what both do. */
export function combineFilters(a: ObjectFilter, b: ObjectFilter): ObjectFilter {
  return {
    types: new Set([...a.types].filter((type) => b.types.has(type))),
    blobLimit: Math.min(a.blobLimit, b.blobLimit),
    treeDepth: Math.min(a.treeDepth, b.treeDepth),
  }
}

/** Whether no tree and no blob passes. */
export function passesCommitsOnly(filter: ObjectFilter): boolean {
  const { types, blobLimit, treeDepth } = filter
  return treeDepth === 0 || !(types.has(TREE) || (types.has(BLOB) && blobLimit > 0))
}

/**
 * Takes out of a selection what does not pass by its type or size, `explicit` objects excepted: what a client names it
 * gets. Depths are not looked at: whoever selects trees keeps to them. Reads nothing but, for blobs of 4 GiB and more, a
 * header.
 */
export async function filterSelection(
  packs: readonly IndexedPack[],
  selection: Selection,
  explicit: Selection,
  filter: ObjectFilter,
  objects: ObjectSource,
): Promise<void> {
  for (const [pack, { index }] of packs.entries()) {
    const ordinals = selection[pack]!
    for (let ordinal = ordinals.next(0); ordinal >= 0; ordinal = ordinals.next(ordinal + 1)) {
      const type = index.type(ordinal)
      let passes = filter.types.has(type)
      if (passes && type === BLOB && filter.blobLimit < Number.POSITIVE_INFINITY) {
        const stored = index.size(ordinal)
        const isRough = stored === SIZE_UNKNOWN && filter.blobLimit > SIZE_UNKNOWN
        const size = isRough ? ((await objects.stat(index.oid(ordinal)))?.size ?? stored) : stored
        passes = size < filter.blobLimit
      }
      if (!passes && !selects(explicit, makePlace(pack, ordinal))) ordinals.clear(ordinal)
    }
  }
}

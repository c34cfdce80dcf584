import type { Bitmap } from '../bytes/bitmap.ts'
import type { PackIndex } from './pack-index.ts'

/**
 * Where an object lies among the packs of a list, as one number: the pack's place in the list times 2^32, plus the
 * ordinal of the entry. Fetches of a million objects make no garbage by it.
 */
export type Place = number

/** No pack has the object. */
export const NOWHERE: Place = -1
const PACK_SCALE = 2 ** 32

/** All that is needed of a pack to find objects in it. */
export interface IndexedPack {
  readonly index: PackIndex
}

/** Objects of several packs: one bitmap over the ordinals of each, in the order of the packs. */
export type Selection = readonly Bitmap[]

export function makePlace(pack: number, ordinal: number): Place {
  return pack * PACK_SCALE + ordinal
}

export function packOf(place: Place): number {
  return Math.floor(place / PACK_SCALE)
}

export function ordinalOf(place: Place): number {
  return place - packOf(place) * PACK_SCALE
}

/**
 * The place of an object whose raw id is at `at` of `oid`: in the oldest pack that has it, at its first entry there.
 *
 * @param end look only in this many of the oldest packs
 */
export function findPlace(packs: readonly IndexedPack[], oid: Uint8Array, at = 0, end = packs.length): Place {
  for (let pack = 0; pack < end; pack++) {
    const ordinal = packs[pack]!.index.find(oid, at)
    if (ordinal >= 0) return makePlace(pack, ordinal)
  }
  return NOWHERE
}

export function selects(selection: Selection, place: Place): boolean {
  const pack = packOf(place)
  return selection[pack]!.has(place - pack * PACK_SCALE)
}

export function select(selection: Selection, place: Place): void {
  const pack = packOf(place)
  selection[pack]!.set(place - pack * PACK_SCALE)
}

export function countSelected(selection: Selection): number {
  return selection.reduce((sum, bitmap) => sum + bitmap.count(), 0)
}

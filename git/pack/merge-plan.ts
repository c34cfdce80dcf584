import { Bitmap } from '../bytes/bitmap.ts'
import { oidToBytes } from '../bytes/oid.ts'
import { OidTable } from '../bytes/oid-table.ts'
import { COPY, DELTA_BY_ID, DELTA_IN_PACK, type SendMode, type SendModes, WHOLE } from './delta-bases.ts'
import { findPlace, makePlace, NOWHERE, ordinalOf, packOf, type Selection } from './object-place.ts'
import { EXTERNAL_BASE } from './pack-index.ts'
import type { ReadablePack } from './packed-objects.ts'

const NOT_MERGED = 0xffffffff

/**
 * Which entries of some packs go into the one that takes their place, each object once, and which ordinal each gets
 * there: pack by pack, oldest first, in the order in which they lie.
 *
 * Deltas stay deltas. The base of one lies in the same pack, in an older one of those merged, or in a pack that is
 * older than all of them and stays: so it does in the merged pack, and there is no cycle.
 */
export class MergePlan implements SendModes {
  /** Oldest first. */
  readonly packs: readonly ReadablePack[]
  /** What is copied of each pack. */
  readonly selection: Selection
  /** How many objects that is. */
  readonly entries: number
  /** By pack and ordinal there: the ordinal in the merged pack. */
  readonly #ordinals: readonly Uint32Array[]
  /** Bases that none of the packs has. */
  readonly #external = new OidTable()

  constructor(packs: readonly ReadablePack[]) {
    this.packs = packs
    this.selection = packs.map(({ index }) => new Bitmap(index.entries))
    let entries = 0
    this.#ordinals = packs.map(({ index }, pack) => {
      const ordinals = new Uint32Array(index.entries).fill(NOT_MERGED)
      for (let ordinal = 0; ordinal < index.entries; ordinal++) {
        if (findPlace(packs, index.oidBytes(ordinal), 0, pack + 1) !== makePlace(pack, ordinal)) continue
        this.selection[pack]!.set(ordinal)
        ordinals[ordinal] = entries++
      }
      return ordinals
    })
    this.entries = entries
  }

  /** Of the ordinals, the selection and the external bases. */
  get heldBytes(): number {
    const ordinals = this.#ordinals.reduce((sum, { byteLength }) => sum + byteLength, 0)
    return ordinals + Math.ceil(ordinals / 32) + this.#external.heldBytes
  }

  /** The ordinal in the merged pack of the object whose raw id is at `at` of `oid`, or -1 if no pack has it. */
  find(oid: Uint8Array, at = 0): number {
    const place = findPlace(this.packs, oid, at)
    return place === NOWHERE ? -1 : this.ordinal(packOf(place), ordinalOf(place))
  }

  /** The ordinal in the merged pack of the object that an entry is. */
  ordinal(pack: number, ordinal: number): number {
    const merged = this.#ordinals[pack]![ordinal]!
    return merged === NOT_MERGED ? this.find(this.packs[pack]!.index.oidBytes(ordinal)) : merged
  }

  mode(pack: number, ordinal: number): SendMode {
    const { index } = this.packs[pack]!
    if (!index.isDelta(ordinal)) return COPY
    const inPack = index.baseOrdinal(ordinal)
    if (inPack >= 0 && this.selection[pack]!.has(inPack)) return DELTA_IN_PACK
    const place = this.#olderBase(pack, ordinal)
    // On a second copy in its own pack: the first may stand on this entry.
    return place !== NOWHERE && packOf(place) === pack ? WHOLE : DELTA_BY_ID
  }

  /** What an entry that is copied is a delta against, as the index of the merged pack says it. */
  base(pack: number, ordinal: number): number {
    const mode = this.mode(pack, ordinal)
    if (mode === COPY || mode === WHOLE) return 0
    const { index } = this.packs[pack]!
    if (mode === DELTA_IN_PACK) return this.ordinal(pack, index.baseOrdinal(ordinal)) + 1
    const place = this.#olderBase(pack, ordinal)
    if (place !== NOWHERE) return this.ordinal(packOf(place), ordinalOf(place)) + 1
    return EXTERNAL_BASE + this.#external.intern(this.#baseId(pack, ordinal))
  }

  /** Raw ids of the bases outside of the merged pack that {@link base} has told so far. */
  external(): Uint8Array {
    return this.#external.bytes()
  }

  /** Where the base of a delta lies in its own pack or an older one. A newer one may hold it again, as a delta on this. */
  #olderBase(pack: number, ordinal: number): number {
    return findPlace(this.packs, this.#baseId(pack, ordinal), 0, pack + 1)
  }

  #baseId(pack: number, ordinal: number): Uint8Array {
    const { index } = this.packs[pack]!
    const base = index.base(ordinal)!
    return 'oid' in base ? oidToBytes(base.oid) : index.oidBytes(base.ordinal)
  }
}

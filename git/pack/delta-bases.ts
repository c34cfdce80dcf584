import { Bitmap } from '../bytes/bitmap.ts'
import { oidToBytes } from '../bytes/oid.ts'
import { findPlace, NOWHERE, type Place, packOf, type Selection, select, selects } from './object-place.ts'
import type { ReadablePack } from './packed-objects.ts'

/** How an entry can be sent. */
export const COPY = 0
/** A delta on an entry of the same pack that is sent too. */
export const DELTA_IN_PACK = 1
/** A delta that must name its base: it comes from another pack, or the client has it. */
export const DELTA_BY_ID = 2
/** A delta whose base the client would lack: the object is sent whole. */
export const WHOLE = 3

export type SendMode = typeof COPY | typeof DELTA_IN_PACK | typeof DELTA_BY_ID | typeof WHOLE

/** Says of each entry of a selection how it is sent. */
export interface SendModes {
  mode(pack: number, ordinal: number): SendMode
}

/** Tells which of some objects a client has. Places are those of the oldest pack with the object. */
export interface ClientKnowledge {
  among(candidates: Selection): Selection
}

/**
 * Decides for each delta of a selection whether it can be copied.
 *
 * There is never a cycle: within a pack deltas stand on each other as they did when they were resolved, and between
 * packs only on older ones. A delta on an entry of a newer pack, or on a second copy in its own, is not copied.
 */
export class DeltaBases implements SendModes {
  readonly #packs: readonly ReadablePack[]
  readonly #selection: Selection
  /** Bases that are not sent and that the client has. */
  readonly #known: Selection | null

  constructor(packs: readonly ReadablePack[], selection: Selection, client: ClientKnowledge | null) {
    this.#packs = packs
    this.#selection = selection
    const unsent = client === null ? null : this.#unsentBases()
    this.#known = client === null || unsent === null ? null : client.among(unsent)
  }

  mode(pack: number, ordinal: number): SendMode {
    const { index } = this.#packs[pack]!
    if (!index.isDelta(ordinal)) return COPY
    const base = index.baseOrdinal(ordinal)
    if (base >= 0 && this.#selection[pack]!.has(base)) return DELTA_IN_PACK
    const place = this.#basePlace(pack, ordinal)
    if (place === NOWHERE) return WHOLE
    if (selects(this.#selection, place)) return packOf(place) < pack ? DELTA_BY_ID : WHOLE
    return this.#known !== null && selects(this.#known, place) ? DELTA_BY_ID : WHOLE
  }

  #basePlace(pack: number, ordinal: number): Place {
    const { index } = this.#packs[pack]!
    const base = index.base(ordinal)
    if (base === null) return NOWHERE
    return findPlace(this.#packs, 'oid' in base ? oidToBytes(base.oid) : index.oidBytes(base.ordinal))
  }

  /** The bases that the selection needs and does not hold, or null if there are none. */
  #unsentBases(): Selection | null {
    let unsent: Selection | null = null
    for (const [pack, { index }] of this.#packs.entries()) {
      const ordinals = this.#selection[pack]!
      for (let ordinal = ordinals.next(0); ordinal >= 0; ordinal = ordinals.next(ordinal + 1)) {
        if (!index.isDelta(ordinal)) continue
        const base = index.baseOrdinal(ordinal)
        if (base >= 0 && ordinals.has(base)) continue
        const place = this.#basePlace(pack, ordinal)
        if (place === NOWHERE || selects(this.#selection, place)) continue
        unsent ??= this.#packs.map((other) => new Bitmap(other.index.entries))
        select(unsent, place)
      }
    }
    return unsent
  }
}

import { GrowingUint32 } from '../bytes/growing.ts'
import { NumberTable } from '../bytes/number-table.ts'
import { OID_BYTES } from '../bytes/oid.ts'
import type { ObjectNumbers } from './object-numbers.ts'
import { EXTERNAL_REFERENCE } from './pack-graph.ts'

/**
 * Turns numbers of objects into references of a graph file (see PackGraph), and gathers those outside of the pack.
 */
export class GraphReferences {
  readonly #ids: ObjectNumbers
  readonly #external = new GrowingUint32()
  /** By number: the place in the list of external ones plus 1. */
  readonly #places = new NumberTable(0)

  constructor(ids: ObjectNumbers) {
    this.#ids = ids
  }

  get heldBytes(): number {
    return this.#external.heldBytes + this.#places.heldBytes
  }

  /** How many objects outside of the pack were referred to. */
  get externals(): number {
    return this.#external.length
  }

  to(number: number): number {
    const ordinal = this.#ids.ordinalOf(number)
    if (ordinal >= 0) return ordinal
    let place = this.#places.get(number)
    if (place === 0) {
      this.#external.push(number)
      place = this.#external.length
      this.#places.set(number, place)
    }
    return EXTERNAL_REFERENCE + place - 1
  }

  /** Writes the raw ids of the objects outside of the pack that were referred to. */
  copyExternal(target: Uint8Array): void {
    for (let place = 0; place < this.#external.length; place++) {
      this.#ids.copy(this.#external.at(place), target, place * OID_BYTES)
    }
  }
}

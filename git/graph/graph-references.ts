import { OID_BYTES } from '../bytes/oid.ts'
import type { EntryIds } from '../pack/entry-ids.ts'
import { EXTERNAL_REFERENCE } from './pack-graph.ts'

/** Turns numbers of objects into references of a graph file (see PackGraph), and gathers those outside of the pack. */
export class GraphReferences {
  readonly #ids: EntryIds
  readonly #external: number[] = []
  readonly #places = new Map<number, number>()

  constructor(ids: EntryIds) {
    this.#ids = ids
  }

  to(number: number): number {
    const ordinal = this.#ids.ordinalOf(number)
    if (ordinal >= 0) return ordinal
    let place = this.#places.get(number)
    if (place === undefined) {
      place = this.#external.push(number) - 1
      this.#places.set(number, place)
    }
    return EXTERNAL_REFERENCE + place
  }

  /** Raw ids of the objects outside of the pack that were referred to. */
  external(): Uint8Array {
    const bytes = new Uint8Array(this.#external.length * OID_BYTES)
    for (const [i, number] of this.#external.entries()) this.#ids.table.copy(number, bytes, i * OID_BYTES)
    return bytes
  }
}

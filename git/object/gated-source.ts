import type { Oid } from '../bytes/oid.ts'
import type { ObjectSource } from './object-source.ts'
import type { GitObject, ObjectType } from './object-type.ts'

/** A Worker may have six connections, and whoever asked is one. */
const READS_AT_ONCE = 4

/** Reads at most four objects at once, however many are asked for, in the order in which they are asked for. */
export class GatedSource implements ObjectSource {
  readonly #source: ObjectSource
  readonly #waiting: (() => void)[] = []
  #free = READS_AT_ONCE

  constructor(source: ObjectSource) {
    this.#source = source
  }

  async read(oid: Oid): Promise<GitObject | null> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((enter) => this.#waiting.push(enter))
    try {
      return await this.#source.read(oid)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    return this.#source.stat(oid)
  }
}

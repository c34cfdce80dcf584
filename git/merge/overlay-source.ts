import type { Oid } from '../bytes/oid.ts'
import type { NewObject } from '../object/new-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { GitObject, ObjectType } from '../object/object-type.ts'

/** Objects that are stored, and others that have been made on the way and are stored nowhere. */
export class OverlaySource implements ObjectSource {
  readonly #source: ObjectSource
  readonly #made = new Map<Oid, NewObject>()

  constructor(source: ObjectSource) {
    this.#source = source
  }

  add(objects: readonly NewObject[]): void {
    for (const object of objects) this.#made.set(object.oid, object)
  }

  /** Those that have been made. */
  objects(): Iterable<NewObject> {
    return this.#made.values()
  }

  async read(oid: Oid): Promise<GitObject | null> {
    return this.#made.get(oid) ?? this.#source.read(oid)
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const made = this.#made.get(oid)
    return made === undefined ? this.#source.stat(oid) : { type: made.type, size: made.bytes.length }
  }
}

import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import type { GitObject, ObjectType } from '../../git/object/object-type.ts'
import type { BaseSource } from '../../git/pack/build-pack.ts'
import type { PackedObjects } from '../../git/pack/packed-objects.ts'
import { KEPT_IN_MEMORY } from './limits.ts'

/** What an object takes beside its bytes, roughly. */
const ENTRY_BYTES = 300
/** Larger ones would drive out many. */
const LARGEST = KEPT_IN_MEMORY.objectBytes / 8

/** Objects that a queue has made or read: those that it needs next are mostly among them. */
export class KeptObjects {
  readonly #objects = new LruCache<Oid, GitObject>(
    KEPT_IN_MEMORY.objectBytes,
    ({ bytes }) => bytes.length + ENTRY_BYTES,
  )

  get(oid: Oid): GitObject | undefined {
    return this.#objects.get(oid)
  }

  keep(oid: Oid, { type, bytes }: GitObject): void {
    if (bytes.length <= LARGEST) this.#objects.set(oid, { type, bytes })
  }
}

/** The objects of packs, those first that are kept. */
export class KeptSource implements BaseSource {
  readonly #kept: KeptObjects
  readonly #packs: PackedObjects

  constructor(kept: KeptObjects, packs: PackedObjects) {
    this.#kept = kept
    this.#packs = packs
  }

  async read(oid: Oid): Promise<GitObject | null> {
    const kept = this.#kept.get(oid)
    if (kept !== undefined) return kept
    const object = await this.#packs.read(oid)
    if (object !== null) this.#kept.keep(oid, object)
    return object
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const kept = this.#kept.get(oid)
    return kept === undefined ? this.#packs.stat(oid) : { type: kept.type, size: kept.bytes.length }
  }

  has(oid: Oid): boolean {
    return this.#packs.find(oid) !== null
  }

  deltaDepth(oid: Oid): number {
    return this.#packs.deltaDepth(oid)
  }
}

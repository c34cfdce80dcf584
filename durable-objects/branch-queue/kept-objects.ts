import { LruCache } from '../../git/bytes/lru-cache.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import type { GitObject, ObjectType } from '../../git/object/object-type.ts'
import type { BaseSource } from '../../git/pack/build-pack.ts'
import type { PackedObjects } from '../../git/pack/packed-objects.ts'
import { KEPT_IN_MEMORY } from './limits.ts'

/** What an object takes beside its bytes, roughly. */
const ENTRY_BYTES = 300
/** Larger ones would drive out many. */
const LARGEST = KEPT_IN_MEMORY.objectBytes / 16

/** Of all queues that share an isolate: one bound for them all. */
const kept = new LruCache<string, GitObject>(KEPT_IN_MEMORY.objectBytes, ({ bytes }) => bytes.length + ENTRY_BYTES)

/**
 * The objects of a repository's packs. What its queues have lately made or read is kept, and is mostly what they need
 * next. Nothing is found that is not in the packs: another queue may know newer ones.
 */
export class KeptSource implements BaseSource {
  readonly #repository: string
  readonly #packs: PackedObjects

  /** @param repository names it, in all of the edge */
  constructor(repository: string, packs: PackedObjects) {
    this.#repository = repository
    this.#packs = packs
  }

  async read(oid: Oid): Promise<GitObject | null> {
    if (!this.has(oid)) return null
    const known = kept.get(this.#key(oid))
    if (known !== undefined) return known
    const object = await this.#packs.read(oid)
    if (object !== null) this.keep(oid, object)
    return object
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    return this.#packs.stat(oid)
  }

  has(oid: Oid): boolean {
    return this.#packs.find(oid) !== null
  }

  deltaDepth(oid: Oid): number {
    return this.#packs.deltaDepth(oid)
  }

  keep(oid: Oid, { type, bytes }: GitObject): void {
    if (bytes.length <= LARGEST) kept.set(this.#key(oid), { type, bytes })
  }

  #key(oid: Oid): string {
    return `${this.#repository}/${oid}`
  }
}

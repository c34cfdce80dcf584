import { LruCache } from '../git/bytes/lru-cache.ts'
import type { Manifest } from './manifest.ts'

/**
 * Refs of all manifests that an isolate keeps: some 200 bytes each, so 20 MB. One manifest is kept however many it has,
 * or each request would be sent it anew.
 */
const REFS_KEPT = 100_000
/** What a manifest takes beside its refs, counted in refs. */
const MANIFEST_COST = 20

/** Manifests by repository, to be asked for by their version; those of the repositories last asked for stay. */
export class ManifestCache {
  readonly #manifests: LruCache<string, Manifest>

  /** @param capacity in refs */
  constructor(capacity = REFS_KEPT) {
    this.#manifests = new LruCache(capacity, ({ refs, packs }) => refs.length + packs.length + MANIFEST_COST)
  }

  get(did: string, rkey: string): Manifest | null {
    return this.#manifests.get(`${did}/${rkey}`) ?? null
  }

  keep(manifest: Manifest): void {
    this.#manifests.set(`${manifest.did}/${manifest.rkey}`, manifest)
  }
}

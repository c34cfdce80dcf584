import { LruCache } from '../git/bytes/lru-cache.ts'
import type { ManifestBase } from './manifest.ts'
import type { RefList } from './ref-list.ts'

/**
 * Refs of all manifests that an isolate keeps: some 200 bytes each, so 20 MB. One manifest is kept however many it has,
 * or each request would be sent it anew.
 */
const REFS_KEPT = 100_000
/** What a manifest takes beside its refs, counted in refs. */
const MANIFEST_COST = 20

/** A manifest as an isolate has it. */
export interface KeptManifest {
  readonly base: ManifestBase
  /** All of them, or null: they were not needed so far. */
  readonly refs: RefList | null
}

/** Manifests by repository, to be asked for by their version; those of the repositories last asked for stay. */
export class ManifestCache {
  readonly #manifests: LruCache<string, KeptManifest>

  /** @param capacity in refs */
  constructor(capacity = REFS_KEPT) {
    this.#manifests = new LruCache(capacity, ({ base, refs }) => (refs?.held ?? 0) + base.packs.length + MANIFEST_COST)
  }

  get(did: string, rkey: string): KeptManifest | null {
    return this.#manifests.get(`${did}/${rkey}`) ?? null
  }

  /** Keeps a manifest, unless a newer one is here: answers may overtake each other. */
  keep(manifest: KeptManifest): void {
    const { did, rkey } = manifest.base
    const kept = this.get(did, rkey)
    if (kept !== null && isBetter(kept, manifest)) return
    this.#manifests.set(`${did}/${rkey}`, manifest)
  }
}

function isBetter(kept: KeptManifest, other: KeptManifest): boolean {
  if (kept.base.version !== other.base.version) return kept.base.version > other.base.version
  return kept.refs !== null && other.refs === null
}

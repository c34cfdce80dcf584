import type { PackIndex } from '../pack/pack-index.ts'
import type { ReadablePack } from '../pack/packed-objects.ts'
import type { PackGraph } from './pack-graph.ts'

/** What is known of a pack without its bytes. Lists of packs are oldest first. */
export interface KnownPack {
  readonly index: PackIndex
  readonly graph: PackGraph
}

/** A pack with all that is known of it. */
export interface PackHandle extends ReadablePack, KnownPack {}

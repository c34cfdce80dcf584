import type { ReadablePack } from '../pack/packed-objects.ts'
import type { PackGraph } from './pack-graph.ts'

/** A pack with all that is known of it. Lists of packs are oldest first. */
export interface PackHandle extends ReadablePack {
  readonly graph: PackGraph
}

import type { Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'

/** What a tag object points at in the end; any other object itself. It ends: no object can hold its own id. */
export function peelTag(graph: Pick<CommitGraph, 'tagTarget'>, oid: Oid): Oid {
  for (let at = oid; ; ) {
    const target = graph.tagTarget(at)
    if (target === null) return at
    at = target.oid
  }
}

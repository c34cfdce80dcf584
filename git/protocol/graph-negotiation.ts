import type { Oid } from '../bytes/oid.ts'
import type { RepositoryGraph } from '../graph/repository-graph.ts'
import { commitsOf } from '../walk/plan-fetch.ts'
import { everyReaches } from '../walk/reachability.ts'
import type { NegotiationStore } from './negotiation.ts'

/** Answers negotiation from a repository's graph. Wants that are no commits, and do not peel to one, count as reached. */
export function negotiateFrom(graph: RepositoryGraph, wants: readonly Oid[]): NegotiationStore {
  const wanted = commitsOf(graph, wants)
  return {
    has: (oid) => graph.hasObject(oid),
    canGiveUp: (commons) => everyReaches(graph, wanted, commitsOf(graph, commons)),
  }
}

import { oidToBytes } from '../../git/bytes/oid.ts'
import type { KnownPack } from '../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { RefNames } from '../../git/refs/ref-conflicts.ts'
import { peelTag } from '../../git/walk/peel-tag.ts'
import { commitsOf } from '../../git/walk/plan-fetch.ts'

/**
 * The names of those refs that no clone could be given: their target is in no pack, or history below it is cut off.
 * Left out of the manifest they do no harm; listed, one of them would spoil every clone.
 */
export function brokenRefs(
  refs: readonly { readonly name: string; readonly target: string }[],
  packs: readonly KnownPack[],
): string[] {
  const graph = RepositoryGraph.of(packs)
  const has = (oid: string) => packs.some(({ index }) => index.find(oidToBytes(oid)) >= 0)
  const incomplete = incompleteCommits(graph)
  return refs
    .filter(({ target }) => {
      const peeled = peelTag(graph, target)
      if (!has(target) || !has(peeled)) return true
      return commitsOf(graph, [target]).some((commit) => incomplete.has(commit))
    })
    .map(({ name }) => name)
}

/**
 * Those of `names` that cannot be beside the others, or beside one of `sound`: a client has `a` or `a/b`, and its clone
 * fails where both are listed. Of two the shorter stays.
 */
export function conflictingRefs(names: readonly string[], sound: readonly string[]): string[] {
  const listed = new RefNames(sound)
  return [...names].sort().filter((name) => {
    if (listed.conflictWith(name) !== null) return true
    listed.add(name)
    return false
  })
}

/** Commits from which a walk ends at a parent that is not there. None, nearly always. */
function incompleteCommits(graph: RepositoryGraph): ReadonlySet<number> {
  const incomplete = new Set<number>()
  for (let commit = 0; commit < graph.size; commit++) if (!graph.isComplete(commit)) incomplete.add(commit)
  if (incomplete.size === 0) return incomplete
  const byGeneration = Uint32Array.from({ length: graph.size }, (_, commit) => commit)
  byGeneration.sort((a, b) => graph.generation(a) - graph.generation(b))
  for (const commit of byGeneration) {
    if (graph.parents(commit).some((parent) => incomplete.has(parent))) incomplete.add(commit)
  }
  return incomplete
}

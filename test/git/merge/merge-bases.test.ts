import { describe, expect, it } from 'vitest'
import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { mergeBases } from '../../../git/merge/merge-bases.ts'
import { seededRandom } from '../packs.ts'
import { ParentGraph } from '../walk/parent-graph.ts'

function reachable(graph: CommitGraph, from: readonly number[]): Set<number> {
  const found = new Set(from)
  for (const commit of found) for (const parent of graph.parents(commit)) found.add(parent)
  return found
}

/** Common ancestors that are no ancestors of another. */
function naiveBases(graph: CommitGraph, ours: readonly number[], theirs: readonly number[]): number[] {
  const common = [...reachable(graph, ours).intersection(reachable(graph, theirs))]
  const below = reachable(
    graph,
    common.flatMap((commit) => [...graph.parents(commit)]),
  )
  return common.filter((commit) => !below.has(commit)).sort((a, b) => a - b)
}

describe('mergeBases', () => {
  it.each<[string, number[][], [number, number], number[]]>([
    ['the commit itself', [[], [0]], [1, 1], [1]],
    ['an ancestor', [[], [0], [1]], [2, 0], [0]],
    ['where two branches began', [[], [0], [0], [1], [2]], [3, 4], [0]],
    ['nothing', [[], []], [0, 1], []],
    ['both of a criss-cross', [[], [0], [0], [1, 2], [2, 1]], [3, 4], [1, 2]],
    ['no ancestor of a base', [[], [0], [1], [2, 0], [2, 1]], [3, 4], [2]],
  ])('are %s', (_, parents, [ours, theirs], bases) => {
    expect(mergeBases(new ParentGraph(parents), [ours], [theirs]).sort()).toEqual(bases)
  })

  it('are what the naive search finds', () => {
    const random = seededRandom(12)
    for (let round = 0; round < 1000; round++) {
      const graph = new ParentGraph(
        Array.from({ length: 1 + random(40) }, (_, commit) =>
          commit === 0 || random(9) === 0
            ? []
            : [...new Set(Array.from({ length: 1 + random(3) }, () => Math.max(0, commit - 1 - random(6))))],
        ),
      )
      const some = () => Array.from({ length: 1 + random(2) }, () => random(graph.size))
      const [ours, theirs] = [some(), some()]
      expect(mergeBases(graph, ours, theirs).sort((a, b) => a - b)).toEqual(naiveBases(graph, ours, theirs))
    }
  })

  it('cost what lies between the two', () => {
    const graph = new ParentGraph(Array.from({ length: 100_000 }, (_, commit) => (commit === 0 ? [] : [commit - 1])))
    expect(mergeBases(graph, [99_999], [99_990])).toEqual([99_990])
    expect(graph.lookedAt).toBeLessThan(20)
  })
})

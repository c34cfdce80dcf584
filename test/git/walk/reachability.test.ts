import { describe, expect, it } from 'vitest'
import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { missingCommits } from '../../../git/walk/missing-commits.ts'
import { everyReaches, isAncestor } from '../../../git/walk/reachability.ts'
import { walkCommits } from '../../../git/walk/walk-commits.ts'
import { seededRandom } from '../packs.ts'
import { ParentGraph } from './parent-graph.ts'

function randomGraph(random: (limit: number) => number): ParentGraph {
  const parents = Array.from({ length: 1 + random(40) }, (_, commit) =>
    commit === 0 || random(9) === 0
      ? []
      : [...new Set(Array.from({ length: 1 + random(3) }, () => Math.max(0, commit - 1 - random(6))))],
  )
  return new ParentGraph(parents)
}

function reachable(graph: CommitGraph, from: readonly number[]): Set<number> {
  const found = new Set(from)
  for (const commit of found) for (const parent of graph.parents(commit)) found.add(parent)
  return found
}

const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b)

/** A line of 100,000 commits, the newest last. */
const LONG = Array.from({ length: 100_000 }, (_, commit) => (commit === 0 ? [] : [commit - 1]))

describe('random graphs', () => {
  const random = seededRandom(4711)
  const cases = Array.from({ length: 500 }, () => {
    const graph = randomGraph(random)
    const some = (most: number) => Array.from({ length: random(most + 1) }, () => random(graph.size))
    return { graph, from: some(4), to: some(4) }
  })

  it('lack what the naive walk finds lacking', () => {
    for (const { graph, from, to } of cases) {
      const had = reachable(graph, to)
      const lacking = sorted(reachable(graph, from)).filter((commit) => !had.has(commit))
      expect(sorted(missingCommits(graph, from, to).commits)).toEqual(lacking)
    }
  })

  it('lack what the naive walk finds lacking where history ends early on either side', () => {
    for (const { graph, from, to } of cases) {
      const hadEnds = to.map((commit) => commit >> 1)
      const deepened = hadEnds.slice(0, 1)
      const wants = [...from, ...deepened.flatMap((commit) => [...graph.parents(commit)])]
      const wantedEnds = new Set([...hadEnds.slice(1), ...from.map((commit) => commit >> 1)])
      for (const commit of deepened) wantedEnds.delete(commit)
      const ends = { wanted: wantedEnds, had: new Set(hadEnds) }
      const had = new Set(walkCommits(graph, [...to, ...deepened], ends.had))
      const wanted = [...walkCommits(graph, wants, ends.wanted)]
      const missing = missingCommits(graph, wants, [...to, ...deepened], ends)
      expect(sorted(missing.commits)).toEqual(sorted(wanted.filter((commit) => !had.has(commit))))
      const sent = new Set(missing.commits)
      const cut = [...sent].filter((commit) =>
        graph.parents(commit).some((parent) => !sent.has(parent) && !had.has(parent)),
      )
      expect(cut.filter((commit) => !missing.boundary().includes(commit))).toEqual([])
    }
  })

  it('reach what the naive walk reaches', () => {
    for (const { graph, from, to } of cases) {
      const naive = from.every((start) => to.some((target) => reachable(graph, [start]).has(target)))
      expect(everyReaches(graph, from, to)).toBe(naive)
    }
  })

  it('are walked once, children first', () => {
    for (const { graph, from } of cases) {
      const walked = [...walkCommits(graph, from)]
      expect(sorted(walked)).toEqual(sorted(reachable(graph, from)))
      const places = new Map(walked.map((commit, place) => [commit, place]))
      for (const commit of walked) {
        for (const parent of graph.parents(commit)) expect(places.get(parent)).toBeGreaterThan(places.get(commit)!)
      }
    }
  })
})

describe('a long history', () => {
  it('costs what lies between wants and haves', () => {
    const graph = new ParentGraph(LONG)
    expect(missingCommits(graph, [99_999], [99_990]).commits).toHaveLength(9)
    expect(everyReaches(graph, [99_999], [99_990])).toBe(true)
    expect(isAncestor(graph, 99_990, 99_999)).toBe(true)
    expect(isAncestor(graph, 99_999, 99_990)).toBe(false)
    expect(graph.lookedAt).toBeLessThan(50)
  })

  it('takes thousands of haves', () => {
    const graph = new ParentGraph(LONG)
    const haves = Array.from({ length: 5000 }, (_, i) => i * 19)
    expect(missingCommits(graph, [99_999], haves).commits).toHaveLength(99_999 - 4999 * 19)
  })

  it('is walked to its end without recursion', () => {
    const graph = new ParentGraph(LONG)
    expect(missingCommits(graph, [99_999], []).commits).toHaveLength(100_000)
    expect(everyReaches(graph, [99_999], [0])).toBe(true)
  })
})

import { describe, expect, it } from 'vitest'
import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { missingCommits } from '../../../git/walk/missing-commits.ts'
import { everyReaches, isAncestor } from '../../../git/walk/reachability.ts'
import { walkCommits } from '../../../git/walk/walk-commits.ts'
import { seededRandom } from '../packs.ts'

/** A graph of nothing but parents; a commit's parents have smaller numbers. Counts how many commits are looked at. */
class ParentGraph implements CommitGraph {
  lookedAt = 0
  readonly #parents: readonly number[][]
  readonly #generations: number[] = []

  constructor(parents: readonly number[][]) {
    this.#parents = parents
    for (const own of parents)
      this.#generations.push(1 + Math.max(0, ...own.map((parent) => this.#generations[parent]!)))
  }

  get size(): number {
    return this.#parents.length
  }

  parents(commit: number): readonly number[] {
    this.lookedAt++
    return this.#parents[commit]!
  }

  generation(commit: number): number {
    return this.#generations[commit]!
  }

  /** Clocks that agree with nothing. */
  time(commit: number): number {
    return (commit * 7919) % 101
  }

  find(): number {
    return -1
  }

  oid(): string {
    return ''
  }

  tree(): string {
    return ''
  }

  isComplete(): boolean {
    return true
  }

  tagTarget(): null {
    return null
  }
}

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

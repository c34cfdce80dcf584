import type { CommitGraph } from '../../../git/graph/commit-graph.ts'

/** A graph of nothing but parents; a commit's parents have smaller numbers. Counts how many commits are looked at. */
export class ParentGraph implements CommitGraph {
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

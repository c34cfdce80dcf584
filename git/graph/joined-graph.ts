import type { Oid } from '../bytes/oid.ts'
import type { ObjectType } from '../object/object-type.ts'
import type { CommitGraph } from './commit-graph.ts'

/**
 * Two graphs as one, such as those of a repository and of a fork. Commits of the first keep their numbers; those that only the
 * second has come after them, with gaps where the first has the same.
 */
export class JoinedGraph implements CommitGraph {
  readonly #first: CommitGraph
  readonly #second: CommitGraph
  readonly size: number

  constructor(first: CommitGraph, second: CommitGraph) {
    this.#first = first
    this.#second = second
    this.size = first.size + second.size
  }

  find(oid: Oid): number {
    const number = this.#first.find(oid)
    return number === -1 ? this.#fromSecond(this.#second.find(oid)) : number
  }

  oid(commit: number): Oid {
    return this.#isFirst(commit) ? this.#first.oid(commit) : this.#second.oid(this.#inSecond(commit))
  }

  parents(commit: number): readonly number[] | Uint32Array {
    if (this.#isFirst(commit)) return this.#first.parents(commit)
    return Array.from(this.#second.parents(this.#inSecond(commit)), (parent) => this.find(this.#second.oid(parent)))
  }

  tree(commit: number): Oid {
    return this.#isFirst(commit) ? this.#first.tree(commit) : this.#second.tree(this.#inSecond(commit))
  }

  time(commit: number): number {
    return this.#isFirst(commit) ? this.#first.time(commit) : this.#second.time(this.#inSecond(commit))
  }

  generation(commit: number): number {
    return this.#isFirst(commit) ? this.#first.generation(commit) : this.#second.generation(this.#inSecond(commit))
  }

  isComplete(commit: number): boolean {
    return this.#isFirst(commit) ? this.#first.isComplete(commit) : this.#second.isComplete(this.#inSecond(commit))
  }

  tagTarget(oid: Oid): { readonly oid: Oid; readonly type: ObjectType } | null {
    return this.#first.tagTarget(oid) ?? this.#second.tagTarget(oid)
  }

  #isFirst(commit: number): boolean {
    return commit < this.#first.size
  }

  #inSecond(commit: number): number {
    return commit - this.#first.size
  }

  #fromSecond(number: number): number {
    return number === -1 ? -1 : this.#first.size + number
  }
}

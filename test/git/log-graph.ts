import type { Oid } from '../../git/bytes/oid.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import type { ObjectType } from '../../git/object/object-type.ts'
import type { ScratchRepository } from './git.ts'

/** The commits of a repository of the real git as a graph. */
export class LogGraph implements CommitGraph {
  readonly #commits: { oid: Oid; tree: Oid; time: number; parents: number[]; generation: number }[] = []
  readonly #numbers = new Map<Oid, number>()

  constructor(repository: ScratchRepository) {
    const log = repository.text(['log', '--all', '--topo-order', '--reverse', '--format=%H %T %ct %P'])
    for (const line of log === '' ? [] : log.split('\n')) {
      const [oid, tree, time, ...parents] = line.trim().split(' ') as [Oid, Oid, string, ...Oid[]]
      const numbers = parents.map((parent) => this.#numbers.get(parent)!)
      const generation = 1 + Math.max(0, ...numbers.map((number) => this.#commits[number]!.generation))
      this.#numbers.set(oid, this.#commits.length)
      this.#commits.push({ oid, tree, time: Number(time), parents: numbers, generation })
    }
  }

  get size(): number {
    return this.#commits.length
  }

  find(oid: Oid): number {
    return this.#numbers.get(oid) ?? -1
  }

  oid(commit: number): Oid {
    return this.#commits[commit]!.oid
  }

  parents(commit: number): readonly number[] {
    return this.#commits[commit]!.parents
  }

  tree(commit: number): Oid {
    return this.#commits[commit]!.tree
  }

  time(commit: number): number {
    return this.#commits[commit]!.time
  }

  generation(commit: number): number {
    return this.#commits[commit]!.generation
  }

  isComplete(): boolean {
    return true
  }

  tagTarget(): { readonly oid: Oid; readonly type: ObjectType } | null {
    return null
  }
}

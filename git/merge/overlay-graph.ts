import type { Oid } from '../bytes/oid.ts'
import type { CommitGraph } from '../graph/commit-graph.ts'
import { MissingObjectError } from '../object/missing-object-error.ts'
import type { ObjectType } from '../object/object-type.ts'

/** A commit that has been made and is stored nowhere yet. */
export interface MadeCommit {
  readonly oid: Oid
  readonly tree: Oid
  /** In their order. Each is stored, or has been made before. */
  readonly parents: readonly Oid[]
  /** Committer time in seconds since 1970. */
  readonly time: number
}

/** The commits that are stored, and after them others that have been made on the way: what `OverlaySource` is for objects. */
export class OverlayGraph implements CommitGraph {
  readonly #stored: CommitGraph
  readonly #made: { readonly commit: MadeCommit; readonly parents: readonly number[]; readonly generation: number }[] =
    []
  readonly #numbers = new Map<Oid, number>()

  constructor(stored: CommitGraph) {
    this.#stored = stored
  }

  /** @throws {@link MissingObjectError} for a parent that is not here. */
  add(commit: MadeCommit): void {
    if (this.find(commit.oid) >= 0) return
    const parents = commit.parents.map((oid) => {
      const parent = this.find(oid)
      if (parent < 0) throw new MissingObjectError(oid)
      return parent
    })
    const generation = 1 + Math.max(0, ...parents.map((parent) => this.generation(parent)))
    this.#numbers.set(commit.oid, this.size)
    this.#made.push({ commit, parents, generation })
  }

  get size(): number {
    return this.#stored.size + this.#made.length
  }

  find(oid: Oid): number {
    return this.#numbers.get(oid) ?? this.#stored.find(oid)
  }

  oid(commit: number): Oid {
    return this.#at(commit)?.commit.oid ?? this.#stored.oid(commit)
  }

  parents(commit: number): readonly number[] | Uint32Array {
    return this.#at(commit)?.parents ?? this.#stored.parents(commit)
  }

  tree(commit: number): Oid {
    return this.#at(commit)?.commit.tree ?? this.#stored.tree(commit)
  }

  time(commit: number): number {
    return this.#at(commit)?.commit.time ?? this.#stored.time(commit)
  }

  generation(commit: number): number {
    return this.#at(commit)?.generation ?? this.#stored.generation(commit)
  }

  isComplete(commit: number): boolean {
    return commit >= this.#stored.size || this.#stored.isComplete(commit)
  }

  tagTarget(oid: Oid): { readonly oid: Oid; readonly type: ObjectType } | null {
    return this.#stored.tagTarget(oid)
  }

  #at(commit: number) {
    return this.#made[commit - this.#stored.size]
  }
}

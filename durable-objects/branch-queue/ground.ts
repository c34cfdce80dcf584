import type { Oid } from '../../git/bytes/oid.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { type MadeCommit, OverlayGraph } from '../../git/merge/overlay-graph.ts'
import { OverlaySource } from '../../git/merge/overlay-source.ts'
import { parseCommit } from '../../git/object/commit.ts'
import type { NewObject } from '../../git/object/new-object.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import { parseSignature } from '../../git/object/signature.ts'

/** Where a branch is. */
export interface BranchTip {
  readonly commit: Oid
  readonly tree: Oid
  /** Committer time in seconds since 1970: what is made on it is not older. */
  readonly time: number
}

/** The commit as a tip, or null if there is no such commit. @throws {@link MalformedObjectError} */
export async function readTip(objects: ObjectSource, oid: Oid): Promise<BranchTip | null> {
  const object = await objects.read(oid)
  if (object?.type !== COMMIT) return null
  const { tree, committer } = parseCommit(object.bytes)
  return { commit: oid, tree, time: parseSignature(committer).time ?? 0 }
}

/** What a repository holds, as far as work needs it. */
export interface Stored {
  readonly objects: ObjectSource
  /** The commits of all packs; read on first use. */
  graph(): Promise<CommitGraph>
}

/** Where a branch is, and what may be made of it. */
export interface BranchPlace {
  /** Full name. */
  readonly ref: string
  /** Null: there is no such branch, or it cannot be read. */
  readonly tip: BranchTip | null
  /** Where the branch is in the account, if that cannot be read here: it is shown to nobody, and nothing is made on it. */
  readonly unreadable: Oid | null
  /** Whether a commit may begin the branch where there is none: it is the default one of a repository. */
  readonly mayBegin: boolean
  /** A branch that stands in the way of this one where it is to be created (`a` of `a/b`), or null. */
  readonly inTheWay: string | null
}

/** What has become of a branch by one piece of work. */
export interface AppliedWork {
  readonly tip: BranchTip | null
  /** What has been made. Some of it may be stored already. */
  readonly objects: readonly NewObject[]
  /** The commits among them, parents first. */
  readonly commits: readonly MadeCommit[]
}

/** A branch and the repository that it is in, with what has been made so far and is stored nowhere yet. */
export class Ground {
  readonly objects: OverlaySource
  #place: BranchPlace
  readonly #stored: Stored
  readonly #commits: MadeCommit[] = []
  #graph: OverlayGraph | null = null

  constructor(place: BranchPlace, stored: Stored) {
    this.#place = place
    this.#stored = stored
    this.objects = new OverlaySource(stored.objects)
  }

  get place(): BranchPlace {
    return this.#place
  }

  /** The commits that are stored, and those that have been made. */
  async graph(): Promise<OverlayGraph> {
    this.#graph ??= new OverlayGraph(await this.#stored.graph())
    for (const commit of this.#commits.splice(0)) this.#graph.add(commit)
    return this.#graph
  }

  /** What comes next is applied on what this has made. */
  moveOn({ tip, objects, commits }: AppliedWork): void {
    this.#place = { ...this.#place, tip, unreadable: null }
    this.objects.add(objects)
    this.#commits.push(...commits)
  }
}

/** What a merge is about: numbers are those of the graph. */
export interface MergeSides {
  readonly graph: OverlayGraph
  readonly tip: BranchTip
  readonly ours: number
  readonly theirs: number
}

export function tipOf(graph: CommitGraph, commit: number): BranchTip {
  return { commit: graph.oid(commit), tree: graph.tree(commit), time: graph.time(commit) }
}

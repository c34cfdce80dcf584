import type { Oid } from '../../git/bytes/oid.ts'
import { commitsToReplay } from '../../git/merge/commits-to-replay.ts'
import { mergeFollowingRenames } from '../../git/merge/follow-renames.ts'
import type { MadeCommit, OverlayGraph } from '../../git/merge/overlay-graph.ts'
import { OverlaySource } from '../../git/merge/overlay-source.ts'
import { type Commit, parseCommit, serializeReplayed } from '../../git/object/commit.ts'
import type { NewObject } from '../../git/object/new-object.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import { EMPTY_TREE, readObject } from '../../git/object/read-object.ts'
import { decodeText } from '../../git/object/text.ts'
import { shortBranch } from '../../git/refs/short-branch.ts'
import type { MergeWork } from './answers.ts'
import { type AppliedWork, type BranchTip, type Ground, type MergeSides, tipOf } from './ground.ts'
import { MOST_REPLAYED } from './limits.ts'
import { committerOf, newCommit } from './make-commit.ts'
import { RefusedWorkError, refuseConflicts } from './refuse.ts'

/** Digits of an id in messages and markers. */
const SHORT_OID = 7

/**
 * Makes the commits of the source that the branch does not have again on its tip, as `git rebase` does: those that stand
 * there already stay as they are, merges are left out, and so is what changes nothing any more. What was empty from the
 * start stays.
 */
export async function replayCommits(
  ground: Ground,
  work: MergeWork,
  time: number,
  { graph, tip, ours, theirs }: MergeSides,
): Promise<AppliedWork> {
  const commits = commitsToReplay(graph, theirs, ours)
  if (commits.length > MOST_REPLAYED) {
    const message = `${work.sourceName} has ${commits.length} commits to rebase, and ${MOST_REPLAYED} are the most: merge it`
    throw new RefusedWorkError({ reason: 'too-large', message })
  }
  const replay = new Replay(ground, graph, work, time, tip)
  for (const commit of commits) await replay.add(commit)
  const applied = replay.finish()
  if (applied.tip === tip) {
    const message = `the branch has all that ${work.sourceName} changes already`
    throw new RefusedWorkError({ reason: 'nothing-to-do', message })
  }
  return applied
}

class Replay {
  readonly #graph: OverlayGraph
  readonly #made: OverlaySource
  readonly #commits: MadeCommit[] = []
  readonly #work: MergeWork
  readonly #time: number
  readonly #ref: string
  #tip: BranchTip

  constructor(ground: Ground, graph: OverlayGraph, work: MergeWork, time: number, tip: BranchTip) {
    this.#graph = graph
    this.#made = new OverlaySource(ground.objects)
    this.#work = work
    this.#time = time
    this.#ref = ground.place.ref
    this.#tip = tip
  }

  async add(commit: number): Promise<void> {
    const [parent] = this.#graph.parents(commit)
    if (parent !== undefined && this.#graph.oid(parent) === this.#tip.commit) {
      this.#tip = tipOf(this.#graph, commit)
      return
    }
    const original = parseCommit(await readObject(this.#made, this.#graph.oid(commit), COMMIT))
    const before = parent === undefined ? null : this.#graph.tree(parent)
    const { tree, objects } = await this.#merge(this.#graph.oid(commit), original, before)
    const wasEmpty = original.tree === (before ?? EMPTY_TREE)
    if (tree === this.#tip.tree && !wasEmpty) return
    this.#put(original, tree, objects)
  }

  finish(): AppliedWork {
    return { tip: this.#tip, objects: [...this.#made.objects()], commits: this.#commits }
  }

  async #merge(oid: Oid, original: Commit, before: Oid | null): Promise<{ tree: Oid; objects: readonly NewObject[] }> {
    const short = oid.slice(0, SHORT_OID)
    const subject = decodeText(original.message, original.encoding).split('\n', 1)[0]!
    const labels = { ours: shortBranch(this.#ref), theirs: `${short} (${subject})` }
    const merged = await mergeFollowingRenames(this.#made, before, this.#tip.tree, original.tree, { labels })
    if (merged.conflicts.length > 0) throw refuseConflicts(`commit ${short} (${subject}) conflicts`, merged.conflicts)
    return merged
  }

  #put(original: Commit, tree: Oid, objects: readonly NewObject[]): void {
    const committer = committerOf(this.#work.author, this.#time, this.#tip)
    const commit = newCommit(serializeReplayed(original, { tree, parent: this.#tip.commit, committer }))
    this.#made.add([commit, ...objects])
    this.#commits.push({ oid: commit.oid, tree, parents: [this.#tip.commit], time: committer.time })
    this.#tip = { commit: commit.oid, tree, time: committer.time }
  }
}

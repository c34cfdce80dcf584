import { GrowingUint32 } from '../bytes/growing.ts'
import type { BufferHolder } from '../bytes/memory-account.ts'
import { SparseNumberTable } from '../bytes/number-table.ts'
import { oidToBytes } from '../bytes/oid.ts'
import { BLOB, TREE } from '../object/object-type.ts'
import { LINK_LIMITS, type LinkInput, type LinkState, listsBytes, listsName } from './link-files.ts'
import { LinkedCommits } from './linked-commits.ts'
import { LinkedTrees } from './linked-trees.ts'
import { NewObjects } from './new-objects.ts'
import { OtherObjects, typeBit } from './other-objects.ts'

/** Commits between two looks at the memory held. */
const CHECKED_EVERY = 256

/** How many commits have been compared. */
export function listedCommits({ lists }: LinkState): number {
  return lists.reduce((sum, { commits }) => sum + commits, 0)
}

/** Lists the objects of the next commits that their trees have and none of their parents' trees have. */
export async function listNextCommits(input: LinkInput, state: LinkState): Promise<LinkState> {
  const { memory, files, limits = LINK_LIMITS } = input
  const others = memory.enter(await OtherObjects.read(input, state))
  const commits = memory.enter(await LinkedCommits.read(input, state))
  const trees = memory.enter(new LinkedTrees(input, state, others))
  const lister = memory.enter(new CommitLister(input, commits, trees, others, state.compared))
  const start = listedCommits(state)
  let commit = start
  for (; commit < commits.length; commit++) {
    if (lister.listed.length >= limits.listed || commit - start >= limits.listedCommits) break
    if ((commit - start) % CHECKED_EVERY === 0) {
      memory.check()
      input.onProgress?.('commits', commit, commits.length)
    }
    await lister.list(commit)
  }
  input.onProgress?.('commits', commit, commits.length)
  const batch = { commits: commit - start, objects: lister.listed.length }
  memory.check(listsBytes(batch))
  const file = new Uint32Array(batch.commits + batch.objects)
  file.set(lister.ends.view())
  file.set(lister.listed.view(), batch.commits)
  await files.write(listsName(state.lists.length), new Uint8Array(file.buffer))
  const { compared } = lister
  return { ...state, lists: [...state.lists, batch], compared, ...(await others.write(input, state)) }
}

class CommitLister implements BufferHolder {
  readonly listed = new GrowingUint32()
  /** By commit: where its objects end. */
  readonly ends = new GrowingUint32()
  readonly #input: LinkInput
  readonly #commits: LinkedCommits
  readonly #others: OtherObjects
  readonly #newObjects: NewObjects

  constructor(input: LinkInput, commits: LinkedCommits, trees: LinkedTrees, others: OtherObjects, compared: number) {
    this.#input = input
    this.#commits = commits
    this.#others = others
    const list = (number: number, isTree: boolean) => {
      if (others.has(number)) others.expect(number, typeBit(isTree ? TREE : BLOB))
      this.listed.push(number)
    }
    this.#newObjects = new NewObjects(trees, () => new SparseNumberTable(), list, compared)
  }

  get heldBytes(): number {
    return this.listed.heldBytes + this.ends.heldBytes + this.#newObjects.heldBytes
  }

  get compared(): number {
    return this.#newObjects.compared
  }

  async list(commit: number): Promise<void> {
    const root = this.#commits.trees[commit]!
    const oldRoots = new Set<number>()
    for (const parent of this.#commits.parents(commit)) {
      const tree = this.#treeOf(parent)
      if (tree >= 0) oldRoots.add(tree)
    }
    if (!oldRoots.has(root)) await this.#newObjects.compare(root, oldRoots)
    this.ends.push(this.listed.length)
  }

  /** The number of a commit's tree, or -1 if the commit is not there. */
  #treeOf(number: number): number {
    const commit = this.#commits.find(number)
    if (commit >= 0) return this.#commits.trees[commit]!
    const graph = this.#input.known?.graph
    if (graph === undefined || !this.#others.has(number)) return -1
    const known = graph.find(this.#others.oid(number))
    return known < 0 ? -1 : this.#others.intern(oidToBytes(graph.tree(known)))
  }
}

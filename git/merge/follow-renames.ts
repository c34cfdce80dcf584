import type { Oid } from '../bytes/oid.ts'
import { diffTrees } from '../diff/diff-trees.ts'
import { editTree } from '../edit/edit-tree.ts'
import { type MoveEdit, TreeEditError } from '../edit/tree-edit.ts'
import type { ObjectSource } from '../object/object-source.ts'
import type { MergeConflict } from './merge-conflict.ts'
import { type MergedTrees, mergeTrees, type TreeMergeOptions } from './merge-trees.ts'
import { neededBy } from './needed-objects.ts'
import { OverlaySource } from './overlay-source.ts'

/** The blob without content: many files are empty that have nothing to do with each other. */
const EMPTY_BLOB: Oid = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'

/**
 * Merges two trees as {@link mergeTrees} does, and where one side moved a file that the other changed, the change
 * follows it. A file counts as moved only if its content stayed the same, and only one new file has it. (git also takes
 * files for moved that are merely alike, and infers from moved files that their directory was.)
 *
 * @throws as {@link mergeTrees}
 */
export async function mergeFollowingRenames(
  source: ObjectSource,
  base: Oid | null,
  ours: Oid,
  theirs: Oid,
  options: TreeMergeOptions,
): Promise<MergedTrees> {
  const merged = await mergeTrees(source, base, ours, theirs, options)
  const lost = merged.conflicts.filter(({ kind, base }) => kind === 'modify/delete' && base?.oid !== EMPTY_BLOB)
  if (base === null || lost.length === 0) return merged
  const byOurs = await findRenames(source, base, ours, lost, 'ours')
  const byTheirs = await findRenames(source, base, theirs, lost, 'theirs')
  if (byOurs.length === 0 && byTheirs.length === 0) return merged
  const renamed = new OverlaySource(source)
  try {
    const trees = [
      await edit(renamed, base, [...byOurs, ...byTheirs]),
      await edit(renamed, ours, byTheirs),
      await edit(renamed, theirs, byOurs),
    ] as const
    const followed = await mergeTrees(renamed, ...trees, options)
    return { ...followed, objects: neededBy(followed.tree, [...renamed.objects(), ...followed.objects]) }
  } catch (error) {
    // Something else stands where the file has moved to: the conflict is real.
    if (error instanceof TreeEditError) return merged
    throw error
  }
}

/** The moves by which a side made the files disappear that it seems to have deleted. */
async function findRenames(
  source: ObjectSource,
  base: Oid,
  tree: Oid,
  lost: readonly MergeConflict[],
  side: 'ours' | 'theirs',
): Promise<MoveEdit[]> {
  const deleted = Map.groupBy(
    lost.filter((conflict) => conflict[side] === null),
    (conflict) => conflict.base!.oid,
  )
  if (deleted.size === 0) return []
  const added = new Map<Oid, Uint8Array[]>()
  for await (const change of diffTrees(source, base, tree)) {
    if (change.old !== null || change.new === null || !deleted.has(change.new.oid)) continue
    added.set(change.new.oid, [...(added.get(change.new.oid) ?? []), change.path])
  }
  return [...added].flatMap(([oid, paths]): MoveEdit[] => {
    const from = deleted.get(oid)!
    return paths.length === 1 && from.length === 1 ? [{ kind: 'move', from: from[0]!.path, path: paths[0]! }] : []
  })
}

async function edit(source: OverlaySource, tree: Oid, moves: readonly MoveEdit[]): Promise<Oid> {
  if (moves.length === 0) return tree
  const edited = await editTree(source, tree, moves)
  source.add(edited.objects)
  return edited.tree
}

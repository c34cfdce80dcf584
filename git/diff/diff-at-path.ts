import type { Oid } from '../bytes/oid.ts'
import { canonicalMode, isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { joinPath } from '../object/path.ts'
import { type PathEntry, resolveTreePath } from '../walk/tree-path.ts'
import { type DiffSide, diffTrees, type TreeChange } from './diff-trees.ts'

/**
 * What differs between two trees at a path and below it, as {@link diffTrees}: no more is read than lies there and on
 * the way. Null stands for the empty tree.
 *
 * @param path the empty one is all
 * @returns null where neither tree has anything at the path
 */
export async function diffAtPath(
  source: ObjectSource,
  oldTree: Oid | null,
  newTree: Oid | null,
  path: Uint8Array,
): Promise<AsyncGenerator<TreeChange, void, undefined> | null> {
  if (path.length === 0) return diffTrees(source, oldTree, newTree)
  const [old, fresh] = await Promise.all([find(source, oldTree, path), find(source, newTree, path)])
  return old === null && fresh === null ? null : changesOf(source, old, fresh, path)
}

async function find(source: ObjectSource, tree: Oid | null, path: Uint8Array): Promise<PathEntry | null> {
  return tree === null ? null : resolveTreePath(source, tree, path)
}

async function* changesOf(
  source: ObjectSource,
  old: PathEntry | null,
  fresh: PathEntry | null,
  path: Uint8Array,
): AsyncGenerator<TreeChange, void, undefined> {
  const [oldFile, newFile] = [fileSide(old), fileSide(fresh)]
  if (oldFile?.oid !== newFile?.oid || oldFile?.mode !== newFile?.mode) yield { path, old: oldFile, new: newFile }
  for await (const change of diffTrees(source, treeOf(old), treeOf(fresh))) {
    yield { ...change, path: joinPath(path, change.path) }
  }
}

function fileSide(entry: PathEntry | null): DiffSide | null {
  return entry === null || isDirectory(entry.mode) ? null : { mode: canonicalMode(entry.mode), oid: entry.oid }
}

function treeOf(entry: PathEntry | null): Oid | null {
  return entry !== null && isDirectory(entry.mode) ? entry.oid : null
}

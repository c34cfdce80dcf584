import { LruCache } from '../../../git/bytes/lru-cache.ts'
import type { Oid } from '../../../git/bytes/oid.ts'
import { isDirectory, isGitlink } from '../../../git/object/file-mode.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { walkTree } from '../../../git/walk/walk-tree.ts'
import { utf8Text } from '../../http/percent.ts'

/** Files and directories that are gone over. Of larger trees the palette knows the beginning. */
const MOST_ENTRIES = 50_000
/** UTF-16 units of paths that an isolate keeps, of all trees and of each. */
const KEPT = 4 * 1024 * 1024
const kept = new LruCache<Oid, readonly string[]>(KEPT, (paths) => paths.reduce((sum, path) => sum + path.length, 1))

/** The paths of all files of a tree, but for names that no text can write. */
export async function treePaths(objects: ObjectSource, tree: Oid): Promise<readonly string[]> {
  const known = kept.get(tree)
  if (known !== undefined) return known
  const paths: string[] = []
  let entries = 0
  // A path may be half a megabyte long, and have many beside it.
  let bytes = 0
  for await (const { path, mode } of walkTree(objects, tree)) {
    bytes += path.length
    if (++entries > MOST_ENTRIES || bytes >= KEPT) break
    if (isDirectory(mode) || isGitlink(mode)) continue
    const text = utf8Text(path)
    if (text !== null) paths.push(text)
  }
  kept.set(tree, paths)
  return paths
}

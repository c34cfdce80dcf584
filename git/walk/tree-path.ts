import type { Oid } from '../bytes/oid.ts'
import { DIRECTORY_MODE, isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { splitPath } from '../object/path.ts'
import { readObject } from '../object/read-object.ts'
import { findTreeEntry } from '../object/tree.ts'

/** What stands at a path of a tree. */
export interface PathEntry {
  readonly mode: number
  readonly oid: Oid
}

/**
 * What stands at `path` of a tree, or null. The empty path is the tree itself.
 *
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}
 */
export async function resolveTreePath(source: ObjectSource, tree: Oid, path: Uint8Array): Promise<PathEntry | null> {
  let entry: PathEntry = { mode: DIRECTORY_MODE, oid: tree }
  for (const name of splitPath(path)) {
    if (!isDirectory(entry.mode)) return null
    const found = findTreeEntry(await readObject(source, entry.oid, TREE), name)
    if (found === null) return null
    entry = found
  }
  return entry
}

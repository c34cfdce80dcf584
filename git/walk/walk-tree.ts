import type { Oid } from '../bytes/oid.ts'
import { isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { joinPath, splitPath } from '../object/path.ts'
import { readObject } from '../object/read-object.ts'
import { TreeReader } from '../object/tree.ts'

/** An entry of a tree or of the trees under it. */
export interface WalkedEntry {
  /** From the tree that the walk started at. */
  readonly path: Uint8Array
  readonly mode: number
  readonly oid: Oid
}

export interface TreeWalkOptions {
  /** Whether to go into directories; an entry comes before what lies in it. Default true. */
  readonly recursive?: boolean
  /** Start after this path, which must be one that the same walk gave. */
  readonly after?: Uint8Array | null
}

/** Trees nested deeper than this are taken for an attack. git's own bound (`core.maxTreeDepth`) is the same. */
export const MAX_TREE_DEPTH = 2048

/** Directories are nested more than {@link MAX_TREE_DEPTH} deep. */
export class TreeDepthError extends Error {
  override name = 'TreeDepthError'
}

/** The path to go on from is not in the tree. */
export class NoSuchPathError extends Error {
  override name = 'NoSuchPathError'
}

interface Level {
  readonly path: Uint8Array
  readonly reader: TreeReader
}

/**
 * The entries of a tree in its order. Reads a tree when its first entry is asked for, and to start after a path only
 * the trees on the way to it.
 *
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}, {@link TreeDepthError}, {@link NoSuchPathError}
 */
export async function* walkTree(
  source: ObjectSource,
  tree: Oid,
  { recursive = true, after = null }: TreeWalkOptions = {},
): AsyncGenerator<WalkedEntry, void, undefined> {
  const levels = [await openLevel(source, new Uint8Array(0), tree)]
  if (after !== null) await skipTo(source, levels, after, recursive)
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (!level.reader.next()) {
      levels.pop()
      continue
    }
    const { mode, name, oid } = level.reader
    const path = joinPath(level.path, name)
    yield { path, mode, oid }
    if (recursive && isDirectory(mode)) levels.push(await openNext(source, levels, path, oid))
  }
}

async function openLevel(source: ObjectSource, path: Uint8Array, tree: Oid): Promise<Level> {
  return { path, reader: new TreeReader(await readObject(source, tree, TREE)) }
}

function openNext(source: ObjectSource, levels: readonly Level[], path: Uint8Array, tree: Oid): Promise<Level> {
  if (levels.length >= MAX_TREE_DEPTH)
    throw new TreeDepthError(`directories are nested more than ${MAX_TREE_DEPTH} deep`)
  return openLevel(source, path, tree)
}

/** Moves the walk to where it was when it gave `after`. */
async function skipTo(source: ObjectSource, levels: Level[], after: Uint8Array, recursive: boolean): Promise<void> {
  const names = splitPath(after)
  if (names.length === 0 || (names.length > 1 && !recursive)) throw new NoSuchPathError('no such path in the tree')
  for (const [depth, name] of names.entries()) {
    const { path, reader } = levels.at(-1)!
    if (!reader.seek(name)) throw new NoSuchPathError('no such path in the tree')
    if (!isDirectory(reader.mode)) {
      if (depth < names.length - 1) throw new NoSuchPathError('no such path in the tree')
    } else if (recursive) {
      levels.push(await openNext(source, levels, joinPath(path, name), reader.oid))
    }
  }
}

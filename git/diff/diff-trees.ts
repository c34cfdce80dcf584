import type { Oid } from '../bytes/oid.ts'
import { canonicalMode, isDirectory } from '../object/file-mode.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { joinPath } from '../object/path.ts'
import { readObject } from '../object/read-object.ts'
import { compareEntries, TreeReader } from '../object/tree.ts'
import { MAX_TREE_DEPTH, TreeDepthError } from '../walk/walk-tree.ts'

/** One side of a change. */
export interface DiffSide {
  /** As git shows modes: 100664 and 100644 are no difference. */
  readonly mode: number
  readonly oid: Oid
}

/** A file, link or submodule that differs. `old` is null where it was added, `new` where it was deleted. */
export interface TreeChange {
  readonly path: Uint8Array
  readonly old: DiffSide | null
  readonly new: DiffSide | null
}

const NOTHING = new Uint8Array(0)

interface Level {
  readonly path: Uint8Array
  readonly old: EntryCursor
  readonly new: EntryCursor
}

/**
 * What differs between two trees, in the order of `git diff-tree -r`. Directories that are the same are not read;
 * null stands for the empty tree. A file that becomes a directory is a deletion and additions.
 *
 * @throws {@link MissingObjectError}, {@link MalformedObjectError}, {@link TreeDepthError}
 */
export async function* diffTrees(
  source: ObjectSource,
  oldTree: Oid | null,
  newTree: Oid | null,
): AsyncGenerator<TreeChange, void, undefined> {
  if (oldTree === newTree) return
  const levels = [await openLevel(source, NOTHING, oldTree, newTree)]
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const pair = nextPair(level)
    if (pair === null) {
      levels.pop()
      continue
    }
    const { old, new: fresh } = pair
    if (old !== null && fresh !== null && old.oid === fresh.oid && old.mode === fresh.mode) continue
    const path = joinPath(level.path, (old ?? fresh)!.name)
    const oldDirectory = old !== null && isDirectory(old.mode)
    const newDirectory = fresh !== null && isDirectory(fresh.mode)
    if (oldDirectory || newDirectory) {
      if (levels.length >= MAX_TREE_DEPTH) {
        throw new TreeDepthError(`directories are nested more than ${MAX_TREE_DEPTH} deep`)
      }
      levels.push(await openLevel(source, path, old?.oid ?? null, fresh?.oid ?? null))
    } else {
      yield { path, old: side(old), new: side(fresh) }
    }
  }
}

interface NamedEntry extends DiffSide {
  readonly name: Uint8Array
}

function side(entry: NamedEntry | null): DiffSide | null {
  return entry === null ? null : { mode: entry.mode, oid: entry.oid }
}

async function openLevel(source: ObjectSource, path: Uint8Array, old: Oid | null, fresh: Oid | null): Promise<Level> {
  const [oldBytes, newBytes] = await Promise.all([readTree(source, old), readTree(source, fresh)])
  return { path, old: new EntryCursor(oldBytes), new: new EntryCursor(newBytes) }
}

async function readTree(source: ObjectSource, tree: Oid | null): Promise<Uint8Array> {
  return tree === null ? NOTHING : readObject(source, tree, TREE)
}

/** The next name of either side with what each side has there; a file and a directory are never one pair. */
function nextPair(level: Level): { old: NamedEntry | null; new: NamedEntry | null } | null {
  const old = level.old.entry
  const fresh = level.new.entry
  if (old === null && fresh === null) return null
  const order = old === null ? 1 : fresh === null ? -1 : compareEntries(old, fresh)
  if (order <= 0) level.old.advance()
  if (order >= 0) level.new.advance()
  return { old: order <= 0 ? old : null, new: order >= 0 ? fresh : null }
}

/** The entry that one side of a level stands at. */
class EntryCursor {
  entry: NamedEntry | null = null
  readonly #reader: TreeReader

  constructor(bytes: Uint8Array) {
    this.#reader = new TreeReader(bytes)
    this.advance()
  }

  advance(): void {
    const reader = this.#reader
    this.entry = reader.next() ? { mode: canonicalMode(reader.mode), name: reader.name, oid: reader.oid } : null
  }
}

import type { Oid } from '../bytes/oid.ts'
import { FILE_MODE, isGitlink } from '../object/file-mode.ts'
import { GatedSource } from '../object/gated-source.ts'
import { hashObject } from '../object/hash-object.ts'
import { asciiText } from '../object/header-lines.ts'
import type { NewObject } from '../object/new-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, TREE } from '../object/object-type.ts'
import { EMPTY_TREE } from '../object/read-object.ts'
import { checkFileName, checkNames, MAX_PATH_BYTES, splitGivenPath } from './check-path.ts'
import { EditedDirectory, type EditedFile, type EditedNode } from './edited-directory.ts'
import { type ModeEdit, type MoveEdit, quotePath, type TreeEdit, TreeEditError, type WriteEdit } from './tree-edit.ts'

export interface EditedTree {
  readonly tree: Oid
  /** The blobs that were given and the trees that have changed, each once. A blob may be stored already. */
  readonly objects: readonly NewObject[]
}

/**
 * Makes the tree that has all these changes, which are one: their order does not matter. What is deleted or moved is
 * taken out first, the innermost first, so that a directory takes along what no other change names; then what has been
 * moved is put in its place; then files are written. So two files can change places, a file can become a directory,
 * and a directory can move into itself. Directories that become empty vanish.
 *
 * Reads only the trees on the way to the paths.
 *
 * @param base null: the empty tree
 * @throws {@link TreeEditError}, {@link MissingObjectError}, {@link MalformedObjectError}
 */
export async function editTree(
  source: ObjectSource,
  base: Oid | null,
  edits: readonly TreeEdit[],
): Promise<EditedTree> {
  checkEdits(edits)
  const editor = new TreeEditor(new GatedSource(source), base)
  await editor.open(edits)
  await editor.take(edits)
  for (const edit of byDepth(edits.filter(isMove), ({ path }) => path)) await editor.putMoved(edit)
  for (const edit of edits) {
    if (edit.kind === 'write') await editor.write(edit)
    if (edit.kind === 'mode') await editor.setMode(edit)
  }
  return editor.finish()
}

/** Says of changes what is wrong with them whatever the tree has. @throws {@link TreeEditError} */
export function checkEdits(edits: readonly TreeEdit[]): void {
  const changed = new Set<string>()
  const taken = new Set<string>()
  for (const edit of edits) {
    const names = splitGivenPath(edit.path)
    // What is there already may go, whatever its name.
    if (edit.kind !== 'delete') {
      checkNames(edit.path, names)
      if (edit.mode !== undefined) checkFileName(edit.path, names.at(-1)!, edit.mode)
    }
    addOnce(changed, edit.path)
    if (edit.kind === 'delete') addOnce(taken, edit.path)
    if (edit.kind === 'move') {
      splitGivenPath(edit.from)
      addOnce(taken, edit.from)
    }
  }
}

function addOnce(paths: Set<string>, path: Uint8Array): void {
  const key = asciiText(path)
  if (paths.has(key)) throw new TreeEditError('duplicate', path, 'is changed twice: make it one change')
  paths.add(key)
}

function isMove(edit: TreeEdit): edit is MoveEdit {
  return edit.kind === 'move'
}

/** The path that a change takes out, or null. */
function takenPath(edit: TreeEdit): Uint8Array | null {
  return edit.kind === 'delete' ? edit.path : edit.kind === 'move' ? edit.from : null
}

/** Outer paths before inner ones. */
function byDepth<T>(values: readonly T[], pathOf: (value: T) => Uint8Array): T[] {
  const depths = new Map(values.map((value) => [value, splitGivenPath(pathOf(value)).length]))
  return values.toSorted((a, b) => depths.get(a)! - depths.get(b)!)
}

class TreeEditor {
  readonly #source: ObjectSource
  readonly #root: EditedDirectory
  readonly #taken = new Map<string, EditedNode>()
  readonly #objects = new Map<Oid, NewObject>()

  constructor(source: ObjectSource, base: Oid | null) {
    this.#source = source
    this.#root = new EditedDirectory(source, base)
  }

  /** Reads the trees on the way to all paths together. */
  async open(edits: readonly TreeEdit[]): Promise<void> {
    const paths = edits.flatMap((edit) => (edit.kind === 'move' ? [edit.from, edit.path] : [edit.path]))
    await Promise.all(paths.map((path) => this.#find(path)))
  }

  async take(edits: readonly TreeEdit[]): Promise<void> {
    const paths = edits.map(takenPath).filter((path) => path !== null)
    for (const path of byDepth(paths, (one) => one).reverse()) {
      const found = await this.#find(path)
      if (found === null) {
        throw new TreeEditError(
          'missing',
          path,
          'is not there, so that it can be neither deleted nor moved: check the path',
        )
      }
      await found.directory.delete(found.name)
      this.#taken.set(asciiText(path), found.node)
    }
  }

  async putMoved({ from, path, content, mode }: MoveEdit): Promise<void> {
    const moved = this.#taken.get(asciiText(from))!
    const isFile = !(moved instanceof EditedDirectory) && !isGitlink(moved.mode)
    if (!isFile && (content !== undefined || mode !== undefined)) {
      const what = moved instanceof EditedDirectory ? 'a directory' : 'a submodule'
      throw new TreeEditError('conflict', from, `is ${what}: move it without content and mode`)
    }
    // Moved into itself again and again, a directory would come to lie too deep for any client.
    if (moved instanceof EditedDirectory && path.length > from.length && !(await moved.fitsBelow(path.length))) {
      throw new TreeEditError(
        'path',
        path,
        `would have paths of more than ${MAX_PATH_BYTES} bytes below it, or has too much to look: move less, or to a shorter path`,
      )
    }
    const { directory, name } = await this.#makeWay(path)
    const there = await directory.get(name)
    if (there !== null && !(there instanceof EditedDirectory && there.isEmpty())) {
      throw new TreeEditError(
        'conflict',
        path,
        `is there already, so that ${quotePath(from)} cannot move there: move it away, or write its content and delete the other`,
      )
    }
    await this.#put(path, directory, name, isFile ? this.#fileOf(content, mode ?? moved.mode, moved) : moved)
  }

  async write({ path, content, mode }: WriteEdit): Promise<void> {
    const { directory, name } = await this.#makeWay(path)
    const there = await directory.get(name)
    if (there instanceof EditedDirectory && !there.isEmpty()) {
      throw new TreeEditError(
        'conflict',
        path,
        'is a directory: delete or move it in the same commit, or choose another path',
      )
    }
    const old = there === null || there instanceof EditedDirectory ? null : there
    if (old !== null && isGitlink(old.mode) && mode === undefined) {
      throw new TreeEditError('conflict', path, 'is a submodule: give a mode to put a file in its place')
    }
    await this.#put(path, directory, name, this.#fileOf(content, mode ?? old?.mode ?? FILE_MODE, old))
  }

  async setMode({ path, mode }: ModeEdit): Promise<void> {
    const found = await this.#find(path)
    if (found === null)
      throw new TreeEditError('missing', path, 'is not there, so that its mode cannot change: check the path')
    const { directory, name, node } = found
    if (node instanceof EditedDirectory || isGitlink(node.mode)) {
      throw new TreeEditError('conflict', path, 'is no file: only a file has a mode to change')
    }
    await this.#put(path, directory, name, { mode, oid: node.oid })
  }

  finish(): EditedTree {
    const tree = this.#root.write(this.#objects)
    if (tree !== null) return { tree, objects: [...this.#objects.values()] }
    const empty = { type: TREE, bytes: new Uint8Array(0), oid: EMPTY_TREE, base: null } as const
    return { tree: EMPTY_TREE, objects: [...this.#objects.values(), empty] }
  }

  async #put(path: Uint8Array, directory: EditedDirectory, name: Uint8Array, node: EditedNode): Promise<void> {
    if (!(node instanceof EditedDirectory)) checkFileName(path, name, node.mode)
    await directory.set(name, node)
  }

  /** @param old what the file was */
  #fileOf(content: Uint8Array | undefined, mode: number, old: EditedFile | null): EditedFile {
    if (content === undefined) return { mode, oid: old!.oid }
    const oid = hashObject(BLOB, content)
    const base = old === null || isGitlink(old.mode) || old.oid === oid ? null : old.oid
    if (!this.#objects.has(oid)) this.#objects.set(oid, { type: BLOB, bytes: content, oid, base })
    return { mode, oid }
  }

  /** What stands at a path, or null. */
  async #find(path: Uint8Array): Promise<{ directory: EditedDirectory; name: Uint8Array; node: EditedNode } | null> {
    const names = splitGivenPath(path)
    let directory = this.#root
    for (const [depth, name] of names.entries()) {
      const node = await directory.get(name)
      if (node === null) return null
      if (depth === names.length - 1) return { directory, name, node }
      if (!(node instanceof EditedDirectory)) return null
      directory = node
    }
    return null
  }

  /** The directory in which a path's last name stands, made where it is not there. */
  async #makeWay(path: Uint8Array): Promise<{ directory: EditedDirectory; name: Uint8Array }> {
    const names = splitGivenPath(path)
    const last = names.pop()!
    let directory = this.#root
    for (const name of names) {
      let node = await directory.get(name)
      if (node === null) {
        node = new EditedDirectory(this.#source, null)
        await directory.set(name, node)
      }
      if (!(node instanceof EditedDirectory)) {
        const way = path.subarray(0, name.byteOffset - path.byteOffset + name.length)
        throw new TreeEditError(
          'conflict',
          way,
          `is a file, so that there can be no ${quotePath(path)}: delete or move it in the same commit, or choose another path`,
        )
      }
      directory = node
    }
    return { directory, name: last }
  }
}

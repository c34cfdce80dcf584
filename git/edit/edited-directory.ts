import type { Oid } from '../bytes/oid.ts'
import { DIRECTORY_MODE, isDirectory } from '../object/file-mode.ts'
import { hashObject } from '../object/hash-object.ts'
import { asciiText } from '../object/header-lines.ts'
import type { NewObject } from '../object/new-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { EMPTY_TREE, readObject } from '../object/read-object.ts'
import { serializeTree, type TreeEntry, TreeReader } from '../object/tree.ts'

/** A file, link or submodule of a tree that is edited. */
export interface EditedFile {
  readonly mode: number
  readonly oid: Oid
}

/** What stands at a name. */
export type EditedNode = EditedFile | EditedDirectory

interface NamedNode {
  readonly name: Uint8Array
  readonly node: EditedNode
}

/** A directory of a tree that is edited. It is read when something in it is first asked for. */
export class EditedDirectory {
  /** The tree that it was made from. */
  readonly #oid: Oid | null
  readonly #source: ObjectSource
  #entries: Map<string, NamedNode> | null = null
  #reading: Promise<Map<string, NamedNode>> | null = null
  #isChanged = false

  /** @param oid null: a new one. */
  constructor(source: ObjectSource, oid: Oid | null) {
    this.#source = source
    this.#oid = oid
    if (oid === null) this.#entries = new Map()
  }

  /** @throws {@link MissingObjectError}, {@link MalformedObjectError} */
  async get(name: Uint8Array): Promise<EditedNode | null> {
    return (await this.#open()).get(asciiText(name))?.node ?? null
  }

  async set(name: Uint8Array, node: EditedNode): Promise<void> {
    const entries = await this.#open()
    entries.set(asciiText(name), { name, node })
    this.#isChanged = true
  }

  async delete(name: Uint8Array): Promise<void> {
    const entries = await this.#open()
    entries.delete(asciiText(name))
    this.#isChanged = true
  }

  /** Whether no file is left in it. */
  isEmpty(): boolean {
    if (this.#entries === null) return this.#oid === EMPTY_TREE
    return [...this.#entries.values()].every(({ node }) => node instanceof EditedDirectory && node.isEmpty())
  }

  /**
   * Makes the trees that have changed, this one last.
   *
   * @returns the tree, or null if no file is in it: git knows no empty directories.
   */
  write(objects: Map<Oid, NewObject>): Oid | null {
    if (this.#entries === null) return this.#oid === EMPTY_TREE ? null : this.#oid
    const entries: TreeEntry[] = []
    let isChanged = this.#isChanged
    for (const { name, node } of this.#entries.values()) {
      if (!(node instanceof EditedDirectory)) {
        entries.push({ ...node, name })
        continue
      }
      const oid = node.write(objects)
      isChanged ||= oid !== node.#oid
      if (oid !== null) entries.push({ mode: DIRECTORY_MODE, name, oid })
    }
    if (entries.length === 0) return null
    if (!isChanged) return this.#oid
    const bytes = serializeTree(entries)
    const oid = hashObject(TREE, bytes)
    if (oid !== this.#oid)
      objects.set(oid, { type: TREE, bytes, oid, base: this.#oid === EMPTY_TREE ? null : this.#oid })
    return oid
  }

  async #open(): Promise<Map<string, NamedNode>> {
    if (this.#entries !== null) return this.#entries
    this.#reading ??= this.#read()
    this.#entries = await this.#reading
    return this.#entries
  }

  async #read(): Promise<Map<string, NamedNode>> {
    const entries = new Map<string, NamedNode>()
    const reader = new TreeReader(await readObject(this.#source, this.#oid!, TREE))
    while (reader.next()) {
      const { mode, name, oid } = reader
      const node = isDirectory(mode) ? new EditedDirectory(this.#source, oid) : { mode, oid }
      entries.set(asciiText(name), { name, node })
    }
    return entries
  }
}

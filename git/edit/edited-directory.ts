import type { Oid } from '../bytes/oid.ts'
import { DIRECTORY_MODE, isDirectory } from '../object/file-mode.ts'
import { hashObject } from '../object/hash-object.ts'
import { asciiText } from '../object/header-lines.ts'
import type { NewObject } from '../object/new-object.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { TREE } from '../object/object-type.ts'
import { EMPTY_TREE, readObject } from '../object/read-object.ts'
import { serializeTree, type TreeEntry, TreeReader } from '../object/tree.ts'
import { MAX_PATH_BYTES } from './check-path.ts'

/** A file, link or submodule of a tree that is edited. */
export interface EditedFile {
  readonly mode: number
  readonly oid: Oid
}

/** Trees that are looked at to see whether a directory may move to a longer path: more than any real one has. */
const MOST_LOOKED_AT = 20_000

/** A directory, and the bytes of its path: of several that are equal, the longest. */
interface Placed {
  readonly directory: EditedDirectory
  readonly length: number
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
   * Whether all that is in it has a path that may be, where its own has so many bytes. Reads all trees below, each once
   * for each depth that it is at; where these are very many, it does not.
   */
  async fitsBelow(length: number): Promise<boolean> {
    let left = MOST_LOOKED_AT
    let level = new Map<EditedDirectory | Oid, Placed>([[this, { directory: this, length }]])
    while (level.size > 0) {
      left -= level.size
      if (left < 0) return false
      const read = [...level.values()].map(async (at) => ({ ...at, entries: await at.directory.#peek() }))
      level = new Map()
      for (const { length: above, entries } of await Promise.all(read)) {
        for (const { name, node } of entries.values()) {
          const end = above + 1 + name.length
          if (end > MAX_PATH_BYTES) return false
          if (!(node instanceof EditedDirectory)) continue
          const key = node.#entries === null ? node.#oid! : node
          level.set(key, { directory: node, length: Math.max(end, level.get(key)?.length ?? 0) })
        }
      }
    }
    return true
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

  /** What is in it, without keeping it: what is only looked at may be large. */
  async #peek(): Promise<Map<string, NamedNode>> {
    return this.#entries ?? this.#read()
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

import type { Oid } from '../../git/bytes/oid.ts'
import { hashObject } from '../../git/object/hash-object.ts'
import type { NewObject } from '../../git/object/new-object.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { BLOB, type GitObject, type ObjectType, TREE } from '../../git/object/object-type.ts'
import { EMPTY_TREE } from '../../git/object/read-object.ts'
import { serializeTree } from '../../git/object/tree.ts'

/** `path: content`, one character a byte; a mode may stand before the content, as in `120000 target`. */
export type Files = Record<string, string>

/** Objects in memory. */
export class MemoryObjects implements ObjectSource {
  /** How many have been read. */
  reads = 0
  readonly #objects = new Map<Oid, GitObject>()

  add(type: ObjectType, bytes: Uint8Array): Oid {
    const oid = hashObject(type, bytes)
    this.#objects.set(oid, { type, bytes })
    return oid
  }

  addAll(objects: readonly NewObject[]): void {
    for (const { type, bytes } of objects) this.add(type, bytes)
  }

  blob(content: string): Oid {
    return this.add(BLOB, Buffer.from(content, 'latin1'))
  }

  /** The tree of these files. */
  tree(files: Files): Oid {
    const entries = Object.groupBy(Object.entries(files), ([path]) => path.split('/')[0]!)
    const tree = Object.entries(entries).map(([name, below]) => {
      const [[path, content]] = below as [[string, string]]
      const isFile = path === name
      const rest = () => Object.fromEntries(below!.map(([deeper, text]) => [deeper.slice(name.length + 1), text]))
      return {
        name: Buffer.from(name, 'latin1'),
        ...(isFile ? this.#file(content) : { mode: 0o040000, oid: this.tree(rest()) }),
      }
    })
    return tree.length === 0 ? EMPTY_TREE : this.add(TREE, serializeTree(tree))
  }

  async read(oid: Oid): Promise<GitObject | null> {
    this.reads++
    return this.#objects.get(oid) ?? null
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const object = this.#objects.get(oid)
    return object === undefined ? null : { type: object.type, size: object.bytes.length }
  }

  #file(content: string): { mode: number; oid: Oid } {
    const [, mode = '100644', text] = /^(?:(\d{6}) )?([\s\S]*)$/.exec(content)!
    return { mode: Number.parseInt(mode, 8), oid: mode === '160000' ? text! : this.blob(text!) }
  }
}

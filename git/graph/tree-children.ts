import { ByteCache } from '../bytes/byte-cache.ts'
import { GrowingUint32 } from '../bytes/growing.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import { TreeReader } from '../object/tree.ts'
import type { IdNumbers } from './object-numbers.ts'

/** Set in a tree's children where the child is a tree itself. */
const IS_TREE = 0x80000000
const NUMBER = 0x7fffffff

/** Children a chunk, 256 KiB of them: a tree's children lie in one chunk. */
const CHUNK = 65536
/** Children of trees that were read again, in bytes. */
const REREAD_BYTES = 8 * 1024 * 1024

/** The children of trees by number: numbers of their ids, see {@link childNumber} and {@link childIsTree}. */
export class TreeChildren {
  readonly #ids: IdNumbers
  #limit: number
  readonly #chunks: Uint32Array[] = []
  #used = CHUNK
  #kept = 0
  /** By the number of a tree's id: chunk and place in it (plus 1; 0: not kept), and how many children. */
  readonly #places = new GrowingUint32()
  readonly #counts = new GrowingUint32()
  readonly #reread = new ByteCache<Uint32Array>(REREAD_BYTES)
  #scratch = new Uint32Array(1024)

  /** @param kept how many children to keep for good. A history may have hundreds of millions. */
  constructor(ids: IdNumbers, kept: number) {
    this.#ids = ids
    this.#limit = kept
  }

  get heldBytes(): number {
    const chunks = this.#chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const tables = this.#places.heldBytes + this.#counts.heldBytes + this.#scratch.byteLength
    return chunks + tables + this.#reread.held
  }

  /** Keeps none for good any more: trees can be read again. */
  letGo(): void {
    this.#limit = 0
    this.#chunks.length = 0
    this.#used = CHUNK
    this.#places.letGo()
    this.#counts.letGo()
    this.#reread.clear()
  }

  /** The children of a tree, as a view that lasts until the next call of another method; null if they are not at hand. */
  get(tree: number): Uint32Array | null {
    const place = tree < this.#places.length ? this.#places.at(tree) : 0
    if (place === 0) return this.#reread.get(tree) ?? null
    const start = (place - 1) % CHUNK
    return this.#chunks[Math.floor((place - 1) / CHUNK)]!.subarray(start, start + this.#counts.at(tree))
  }

  /** Takes in a tree as it passes by, if there is room. @throws MalformedObjectError */
  add(tree: number, bytes: Uint8Array): void {
    if (tree < this.#places.length && this.#places.at(tree) !== 0) return
    const children = this.#read(bytes)
    if (this.#limit === 0 || this.#kept + children.length > this.#limit) return
    if (this.#used >= CHUNK || this.#used + children.length > CHUNK) {
      this.#chunks.push(new Uint32Array(Math.max(CHUNK, children.length)))
      this.#used = 0
    }
    const chunk = this.#chunks.length - 1
    this.#chunks[chunk]!.set(children, this.#used)
    while (this.#places.length <= tree) {
      this.#places.push(0)
      this.#counts.push(0)
    }
    this.#places.set(tree, chunk * CHUNK + this.#used + 1)
    this.#counts.set(tree, children.length)
    this.#used += children.length
    this.#kept += children.length
  }

  /** Takes in a tree that was read for this, for as long as there is room. @throws MalformedObjectError */
  addReread(tree: number, bytes: Uint8Array): Uint32Array {
    const children = this.#read(bytes).slice()
    this.#reread.set(tree, children)
    return children
  }

  #read(bytes: Uint8Array): Uint32Array {
    const entries = new TreeReader(bytes)
    let count = 0
    while (entries.next()) {
      // A submodule's commit lives in another repository.
      if (isGitlink(entries.mode)) continue
      if (count === this.#scratch.length) {
        const larger = new Uint32Array(count * 2)
        larger.set(this.#scratch)
        this.#scratch = larger
      }
      const child = this.#ids.intern(bytes, entries.oidAt)
      this.#scratch[count++] = isDirectory(entries.mode) ? child + IS_TREE : child
    }
    return this.#scratch.subarray(0, count)
  }
}

/** A child as {@link TreeChildren} has it. */
export function treeChild(number: number, isTree: boolean): number {
  return isTree ? number + IS_TREE : number
}

export function childNumber(child: number): number {
  return child & NUMBER
}

export function childIsTree(child: number): boolean {
  return child >= IS_TREE
}

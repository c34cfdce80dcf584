import { ByteCache } from '../bytes/byte-cache.ts'
import type { BufferHolder } from '../bytes/memory-account.ts'
import type { ByteRange } from '../bytes/range.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import { MalformedObjectError } from '../object/malformed-object-error.ts'
import { TREE } from '../object/object-type.ts'
import { TreeReader } from '../object/tree.ts'
import { type LinkInput, type LinkState, linksLayout, linksName, readWords } from './link-files.ts'
import type { OtherObjects } from './other-objects.ts'
import { treeChild } from './tree-children.ts'
import type { TreeSource } from './tree-loader.ts'

const NOTHING = new Uint32Array(0)
/** Children of trees that are kept, in bytes. */
const KEPT_BYTES = 12 * 1024 * 1024
/** Trees asked for at once. */
const READS_AT_ONCE = 6

interface LinksFile {
  readonly start: number
  readonly childEnds: number
  readonly children: number
  readonly file: ByteRange
}

/** The children of trees: of the parts' trees from the files of links, of others from the objects themselves. */
export class LinkedTrees implements TreeSource, BufferHolder {
  readonly #input: LinkInput
  readonly #others: OtherObjects
  readonly #files: readonly LinksFile[]
  readonly #kept = new ByteCache<Uint32Array>(KEPT_BYTES)

  constructor(input: LinkInput, { batches }: LinkState, others: OtherObjects) {
    this.#input = input
    this.#others = others
    this.#files = batches.map((batch, i) => {
      const { childEnds, children, byteLength } = linksLayout(batch)
      return { start: batch.start, childEnds, children, file: input.files.open(linksName(i), byteLength) }
    })
  }

  get heldBytes(): number {
    return this.#kept.held
  }

  letGo(): void {
    this.#kept.clear()
  }

  children(tree: number): Uint32Array | null {
    return this.#kept.get(tree) ?? null
  }

  async load(tree: number): Promise<Uint32Array> {
    const children = this.#others.has(tree) ? await this.#readOther(tree) : await this.#read(tree)
    this.#kept.set(tree, children)
    return children
  }

  async prepare(trees: readonly number[]): Promise<void> {
    const absent = trees.filter((tree) => this.children(tree) === null)
    if (absent.length < 2) return
    for (let at = 0; at < absent.length; at += READS_AT_ONCE) {
      await Promise.all(absent.slice(at, at + READS_AT_ONCE).map((tree) => this.load(tree)))
    }
  }

  async #read(tree: number): Promise<Uint32Array> {
    const { start, childEnds, children, file } = this.#fileOf(tree)
    const place = tree - start
    const [from, to] =
      place === 0
        ? [0, (await readWords(file, childEnds, 1))[0]!]
        : ((await readWords(file, childEnds + 4 * (place - 1), 2)) as unknown as [number, number])
    return from === to ? NOTHING : readWords(file, children + 4 * from, to - from)
  }

  #fileOf(number: number): LinksFile {
    let low = 0
    let high = this.#files.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#files[middle]!.start <= number) low = middle
      else high = middle
    }
    return this.#files[low]!
  }

  /**
   * What such a tree names is not looked for in the parts. If it is there all the same, the lists that come of it are
   * longer than they need be; they never lack an object.
   */
  async #readOther(tree: number): Promise<Uint32Array> {
    const object = (await this.#input.known?.objects.read(this.#others.oid(tree))) ?? null
    if (object?.type !== TREE) return NOTHING
    const children: number[] = []
    try {
      const entries = new TreeReader(object.bytes)
      while (entries.next()) {
        if (isGitlink(entries.mode)) continue
        children.push(treeChild(this.#others.intern(object.bytes, entries.oidAt), isDirectory(entries.mode)))
      }
    } catch (error) {
      if (!(error instanceof MalformedObjectError)) throw error
      return NOTHING
    }
    return Uint32Array.from(children)
  }
}

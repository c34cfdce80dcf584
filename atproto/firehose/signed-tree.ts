import { createHash } from 'node:crypto'
import { decode, fromBytes, isBytes, isCidLink } from '@atcute/cbor'
import { fromString } from '@atcute/cid'
import { isObject } from '../network/json.ts'
import { checkCborShape } from './cbor-shape.ts'

/** Real trees have a handful of levels, and nodes some dozen entries: what has more is meant to cost us something. */
const MAX_LEVELS = 64
const MAX_ENTRIES = 1000
/** Of a path: a collection and a record key have 317 and 512 at most. Keys are written as what differs from the one before. */
const MAX_KEY = 1024
/** Of a node in CBOR: a map, its list, an entry, a tag; an entry has four fields, two of them tagged. */
const NODE_BOUNDS = { maxDepth: 8, maxItems: 11 * MAX_ENTRIES + 10 }

interface Entry {
  readonly key: string
  /** CID of the record. */
  readonly value: string
  /** CID of the subtree of keys after this one. */
  readonly after: string | null
}

interface Node {
  /** CID of the subtree of keys before all entries. */
  readonly before: string | null
  readonly entries: readonly Entry[]
}

/**
 * The part of an account's tree of records (MST) that came with a commit. Each block that is read is checked against its
 * CID, once. https://atproto.com/specs/repository#mst-structure
 */
export class SignedTree {
  readonly #blocks: ReadonlyMap<string, Uint8Array>
  readonly #root: string
  readonly #nodes = new Map<string, Node | null>()
  /** Whether the block of a record is there and is it: many paths may have the same. */
  readonly #isThere = new Map<string, boolean>()

  /** @param root CID of the tree, from a commit that is signed */
  constructor(blocks: ReadonlyMap<string, Uint8Array>, root: string) {
    this.#blocks = blocks
    this.#root = root
  }

  /** The CID of a record; null: the tree has none at this path; undefined: it is not told. @param path `<collection>/<rkey>` */
  find(path: string): string | null | undefined {
    let next: string | null = this.#root
    for (let level = 0; next !== null; level++) {
      const node: Node | null = level === MAX_LEVELS ? null : this.#node(next)
      if (node === null) return undefined
      const entry = lastUpTo(node.entries, path)
      if (entry?.key === path) return entry.value
      next = entry === null ? node.before : entry.after
    }
    return null
  }

  /** Whether the tree has this record at a path, and its block is there and is it. @param cid null: that it has none */
  proves(path: string, cid: string | null): boolean {
    return this.find(path) === cid && (cid === null || this.#has(cid))
  }

  #has(cid: string): boolean {
    const known = this.#isThere.get(cid) ?? readBlock(this.#blocks, cid) !== null
    this.#isThere.set(cid, known)
    return known
  }

  #node(cid: string): Node | null {
    const known = this.#nodes.get(cid)
    if (known !== undefined) return known
    const block = readBlock(this.#blocks, cid)
    const node = block === null ? null : parseNode(block)
    this.#nodes.set(cid, node)
    return node
  }
}

/** The last entry whose key is not after a path; null: there is none. */
function lastUpTo(entries: readonly Entry[], path: string): Entry | null {
  let [from, to] = [0, entries.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (entries[middle]!.key <= path) from = middle + 1
    else to = middle
  }
  return entries[from - 1] ?? null
}

/** A block that is what its CID says; null: it is missing, or another. */
export function readBlock(blocks: ReadonlyMap<string, Uint8Array>, cid: string): Uint8Array | null {
  const block = blocks.get(cid)
  if (block === undefined) return null
  const digest = createHash('sha256').update(block).digest()
  return digest.equals(fromString(cid).digest.contents) ? block : null
}

/** Null: it is no node. */
function parseNode(block: Uint8Array): Node | null {
  try {
    checkCborShape(block, NODE_BOUNDS)
    const node: unknown = decode(block as Uint8Array<ArrayBuffer>)
    if (!isObject(node) || !Array.isArray(node.e) || node.e.length > MAX_ENTRIES) return null
    const entries: Entry[] = []
    let key = ''
    for (const entry of node.e as unknown[]) {
      if (!isObject(entry) || !isBytes(entry.k) || typeof entry.p !== 'number' || entry.p > key.length) return null
      const rest = fromBytes(entry.k)
      if (entry.p + rest.length > MAX_KEY) return null
      const next = key.slice(0, entry.p) + Buffer.from(rest).toString('latin1')
      // In order, or a search would miss what is there.
      if (next <= key || !isCidLink(entry.v)) return null
      key = next
      entries.push({ key, value: entry.v.$link, after: linkOf(entry.t) })
    }
    return { before: linkOf(node.l), entries }
  } catch {
    return null
  }
}

/** @throws where it is neither null nor a link */
function linkOf(value: unknown): string | null {
  if (value === null) return null
  if (!isCidLink(value)) throw new TypeError('no link')
  return value.$link
}

import { createHash, hash } from 'node:crypto'
import { BLOB, COMMIT, type ObjectType, objectTypeName, TREE } from '../../git/object/object-type.ts'
import { encodeEntryHeader, OFS_DELTA, REF_DELTA } from '../../git/pack/entry-header.ts'
import { copy, delta, encodeDistance, insert } from './pack/pack-builder.ts'

const ADLER_MODULUS = 65521
const CHUNK_BYTES = 1024 * 1024
/** As git limits chains of deltas. */
const DEPTH = 50

export interface ManyObjectsOptions {
  readonly commits: number
  /** Files of each commit, all of them changed in it. */
  readonly files: number
  /** Another one makes other objects. */
  readonly seed?: string
  /** How deltas name their bases. Default `ofs`. */
  readonly deltas?: 'ofs' | 'ref'
  /** A file of so many bytes that do not compress in each commit, not counted in `files`. Default none. */
  readonly largeFile?: number
  /** Bases come after the deltas on them, as `git index-pack --fix-thin` appends them. Default false. */
  readonly basesLast?: boolean
}

export interface ManyObjects {
  readonly pack: Uint8Array
  readonly objects: number
  /** The newest commit. */
  readonly tip: string
}

interface Made {
  readonly oid: Buffer
  readonly bytes: Buffer
}

/**
 * A pack of a linear history with very many small objects, in the order in which git writes them: commits, the newest
 * first, then trees and files commit by commit. Every other file is a delta on the same file of the next newer commit.
 * Nothing is compressed, so that making half a million objects takes seconds.
 */
export function manyObjects({
  commits,
  files,
  seed = '',
  deltas = 'ofs',
  largeFile = 0,
  basesLast = false,
}: ManyObjectsOptions): ManyObjects {
  const blobs: Made[][] = []
  const trees: Made[] = []
  const history: Made[] = []
  const names = Array.from({ length: files + 1 }, (_, file) =>
    Buffer.from(`100644 f${String(file).padStart(4, '0')}\0`),
  )
  for (let commit = 0; commit < commits; commit++) {
    const own = Array.from({ length: files }, (_, file) => make(BLOB, `a file of its own: ${seed}${file} ${commit}\n`))
    if (largeFile > 0) own.push(make(BLOB, noise(`${seed}${commit}`, largeFile)))
    blobs.push(own)
    const entries = own.flatMap(({ oid }, file) => [names[file]!, oid])
    trees.push(make(TREE, Buffer.concat(entries)))
    const parent = commit === 0 ? '' : `parent ${history[commit - 1]!.oid.toString('hex')}\n`
    const who = `A <a@example.com> ${1_700_000_000 + commit} +0000`
    const tree = trees[commit]!.oid.toString('hex')
    history.push(make(COMMIT, `tree ${tree}\n${parent}author ${who}\ncommitter ${who}\n\ncommit ${commit}\n`))
  }
  const objects = commits * (2 + files + (largeFile > 0 ? 1 : 0))
  const writer = new PackBytes(objects)
  const newestFirst = Array.from({ length: commits }, (_, i) => commits - 1 - i)
  for (const commit of newestFirst) writer.object(COMMIT, history[commit]!)
  const write = (commit: number) => {
    writer.object(TREE, trees[commit]!)
    for (const [file, blob] of blobs[commit]!.entries()) {
      const isDelta = file % 2 === 1 && file < files && commit % DEPTH !== 0
      const base = isDelta ? blobs[commit + 1]?.[file] : undefined
      if (base === undefined) writer.object(BLOB, blob)
      else writer.delta(base, blob, deltas)
    }
  }
  for (const commit of basesLast ? newestFirst.toReversed() : newestFirst) write(commit)
  return { pack: writer.end(), objects, tip: history.at(-1)!.oid.toString('hex') }
}

function make(type: ObjectType, content: string | Buffer): Made {
  const bytes = Buffer.from(content)
  const header = Buffer.from(`${objectTypeName(type)} ${bytes.length}\0`)
  return { bytes, oid: hash('sha1', Buffer.concat([header, bytes]), 'buffer') }
}

class PackBytes {
  #bytes = Buffer.alloc(CHUNK_BYTES)
  #length = 0
  readonly #offsets = new Map<Made, number>()

  constructor(objects: number) {
    const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
    header.writeUInt32BE(objects, 8)
    this.#append(header)
  }

  object(type: ObjectType, made: Made): void {
    this.#offsets.set(made, this.#length)
    this.#append(encodeEntryHeader(type, made.bytes.length))
    this.#stored(made.bytes)
  }

  delta(base: Made, result: Made, by: 'ofs' | 'ref'): void {
    let same = 0
    while (same < base.bytes.length && base.bytes[same] === result.bytes[same]) same++
    const rest = insert(result.bytes.toString('latin1', same))
    const bytes = Buffer.from(delta(base.bytes.length, result.bytes.length, copy(0, same), rest))
    const start = this.#length
    this.#offsets.set(result, start)
    this.#append(encodeEntryHeader(by === 'ofs' ? OFS_DELTA : REF_DELTA, bytes.length))
    this.#append(by === 'ofs' ? encodeDistance(start - this.#offsets.get(base)!) : base.oid)
    this.#stored(bytes)
  }

  end(): Uint8Array {
    this.#append(createHash('sha1').update(this.#bytes.subarray(0, this.#length)).digest())
    return this.#bytes.subarray(0, this.#length)
  }

  /** As zlib stores what it does not compress. */
  #stored(bytes: Buffer): void {
    this.#reserve(2 + 4)
    this.#length = this.#bytes.writeUInt16BE(0x7801, this.#length)
    for (let at = 0; at === 0 || at < bytes.length; at += 0xffff) {
      const block = bytes.subarray(at, at + 0xffff)
      this.#reserve(5)
      this.#length = this.#bytes.writeUInt8(at + 0xffff >= bytes.length ? 1 : 0, this.#length)
      this.#length = this.#bytes.writeUInt16LE(block.length, this.#length)
      this.#length = this.#bytes.writeUInt16LE(~block.length & 0xffff, this.#length)
      this.#append(block)
    }
    this.#reserve(4)
    this.#length = this.#bytes.writeUInt32BE(adler32(bytes), this.#length)
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + more))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

function adler32(bytes: Uint8Array): number {
  let a = 1
  let b = 0
  for (const byte of bytes) {
    a = (a + byte) % ADLER_MODULUS
    b = (b + a) % ADLER_MODULUS
  }
  return b * 65536 + a
}

/** Bytes that look random, the same for the same seed (xorshift). */
function noise(seed: string, length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4))
  let word = hash('sha1', seed, 'buffer').readUInt32LE() | 1
  for (let at = 0; at < words.length; at++) {
    word ^= word << 13
    word ^= word >>> 17
    word ^= word << 5
    words[at] = word
  }
  return Buffer.from(words.buffer, 0, length)
}

import { createHash } from 'node:crypto'
import { encode, toBytes, toCidLink } from '@atcute/cbor'
import { create as createCid } from '@atcute/cid'
import { describe, expect, it, vi } from 'vitest'
import { SignedTree } from '../../../atproto/firehose/signed-tree.ts'

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return { ...crypto, createHash: vi.fn(crypto.createHash) }
})

class Blocks extends Map<string, Uint8Array> {
  /** @returns the CID */
  async add(data: Uint8Array<ArrayBuffer>): Promise<string> {
    const { $link } = toCidLink(await createCid(0x71, data))
    this.set($link, data)
    return $link
  }

  /** A node of the tree. */
  async addNode(entries: readonly { key: string; value: string; after?: string }[], before?: string) {
    const link = (cid?: string) => (cid === undefined ? null : { $link: cid })
    const e = entries.map(({ key, value, after }, i) => {
      const last = entries[i - 1]?.key ?? ''
      let p = 0
      while (p < last.length && last[p] === key[p]) p++
      return { k: toBytes(new Uint8Array(Buffer.from(key.slice(p)))), p, t: link(after), v: link(value) }
    })
    return this.add(encode({ e, l: link(before) }))
  }
}

const pathOf = (n: number) => `dev.skein.star/${String(n).padStart(5, '0')}`

describe('the tree of an account', () => {
  it('leads to each of its records, and to no other, wherever they lie', async () => {
    const blocks = new Blocks()
    const value = await blocks.add(encode({ n: 1 }))
    const entry = (n: number, after?: string) => ({ key: pathOf(n), value, ...(after === undefined ? {} : { after }) })
    const left = await blocks.addNode([entry(0), entry(2)])
    const middle = await blocks.addNode([entry(10), entry(12), entry(14)])
    const right = await blocks.addNode([entry(30)])
    const tree = new SignedTree(
      blocks,
      await blocks.addNode([entry(4), entry(8, middle), entry(20), entry(24, right)], left),
    )
    const there = [0, 2, 4, 8, 10, 12, 14, 20, 24, 30]
    for (let n = 0; n < 40; n++) expect([n, tree.find(pathOf(n))]).toEqual([n, there.includes(n) ? value : null])
    expect([tree.find(''), tree.find('z')]).toEqual([null, null])
    blocks.delete(middle)
    const cut = new SignedTree(blocks, await blocks.addNode([entry(4), entry(8, middle), entry(20)]))
    expect([9, 10, 11, 14].map((n) => cut.find(pathOf(n)))).toEqual(Array(4).fill(undefined))
    expect([cut.find(pathOf(8)), cut.find(pathOf(21))]).toEqual([value, null])
  })

  it('proves nothing by a node of more entries, or with longer keys, than there are', async () => {
    const blocks = new Blocks()
    const value = await blocks.add(encode({ n: 1 }))
    const many = (count: number) =>
      blocks.addNode(Array.from({ length: count }, (_, n) => ({ key: pathOf(n), value, after: value })))
    expect(new SignedTree(blocks, await many(1000)).find(pathOf(999))).toBe(value)
    expect(new SignedTree(blocks, await many(1001)).find(pathOf(999))).toBeUndefined()
    // In a node each key can be a byte more than the one before, and a megabyte in memory.
    const long = (length: number) => blocks.addNode([{ key: `a/${'x'.repeat(length - 2)}`, value }])
    expect(new SignedTree(blocks, await long(1024)).find('b')).toBeNull()
    expect(new SignedTree(blocks, await long(1025)).find('b')).toBeUndefined()
  })

  it('is read once, and so is a record, however many paths lead to it', async () => {
    const blocks = new Blocks()
    const value = await blocks.add(encode({ text: 'x'.repeat(100_000) }))
    const root = await blocks.addNode(Array.from({ length: 200 }, (_, n) => ({ key: pathOf(n), value })))
    const tree = new SignedTree(blocks, root)
    vi.mocked(createHash).mockClear()
    for (let n = 0; n < 200; n++) expect(tree.proves(pathOf(n), value)).toBe(true)
    expect(createHash).toHaveBeenCalledTimes(2)
    expect(tree.proves(pathOf(0), root)).toBe(false)
  })
})

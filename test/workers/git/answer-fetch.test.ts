import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Mirror } from '../../../durable-objects/repository/mirror.ts'
import { MemoryAccount } from '../../../git/bytes/memory-account.ts'
import type { ByteRange } from '../../../git/bytes/range.ts'
import { answerFetch } from '../../../workers/git/answer-fetch.ts'
import { fetchFormV0 } from '../../../workers/git/fetch-v0.ts'
import { ScratchRepository } from '../../git/git.ts'
import { ingest, packOf } from '../../git/packs.ts'

/** A repository of one large pack, which is copied as it is. */
async function openLargePack() {
  using repository = new ScratchRepository()
  writeFileSync(join(repository.path, 'large.bin'), randomBytes(3_500_000))
  repository.git(['add', '.'])
  repository.git(['commit', '-q', '-m', 'large'])
  const head = repository.text(['rev-parse', 'main'])
  const bytes = packOf(repository, ['main'])
  return { head, bytes, handle: await ingest(bytes) }
}

const { head, bytes, handle } = await openLargePack()

/** Gives `whole` pieces and then fails; what it gave is overwritten once the second after it is asked for. */
function passing(whole: number): ByteRange {
  const { data } = handle
  return {
    size: data.size,
    read: (offset, length) => data.read(offset, length),
    stream: (offset, length) => data.stream(offset, length),
    async *pieces(offset, length, pieceBytes) {
      const given: Uint8Array[] = []
      for await (const piece of data.pieces(offset, length, pieceBytes)) {
        if (given.length === whole) throw new Error('R2 is on fire')
        given.push(Uint8Array.from(piece))
        yield given.at(-1)!
        given.at(-2)?.fill(0xff)
      }
    },
  }
}

function answer(capabilities: readonly string[], data: ByteRange) {
  const mirror = {
    memory: new MemoryAccount(),
    completeManifest: async () => ({ refs: [{ name: 'refs/heads/main', target: head, peeled: null }] }),
    packs: async () => [{ index: handle.index, graph: async () => handle.graph, data }],
  } as unknown as Mirror
  const deepen = { shallow: [], depth: null, relative: false, since: null, not: [], filter: null }
  const form = fetchFormV0({
    wants: [head],
    capabilities: new Map(['ofs-delta', 'no-progress', ...capabilities].map((name) => [name, ''])),
    deepen,
    haves: [],
    done: true,
    asksForEnds: false,
  })
  return answerFetch(mirror, form)
}

/** Takes a copy of each chunk, which is there only until the next is asked for. */
async function collect(chunks: AsyncGenerator<Uint8Array>) {
  const taken: Uint8Array[] = []
  let error: unknown = null
  try {
    for await (const chunk of chunks) taken.push(Uint8Array.from(chunk))
  } catch (thrown) {
    error = thrown
  }
  return { text: Buffer.concat(taken), error }
}

function bandsOf(answered: Buffer): Map<number, Buffer> {
  const bands = new Map<number, Buffer[]>()
  for (let at = answered.indexOf('NAK\n') + 4; at < answered.length; ) {
    const length = Number.parseInt(answered.toString('latin1', at, at + 4), 16)
    if (length === 0) break
    const band = answered[at + 4]!
    bands.set(band, [...(bands.get(band) ?? []), answered.subarray(at + 5, at + length)])
    at += length
  }
  return new Map([...bands].map(([band, parts]) => [band, Buffer.concat(parts)]))
}

const sha1 = (data: Uint8Array) => createHash('sha1').update(data).digest('hex')

it.each([
  ['large packets', ['side-band-64k']],
  ['small packets', ['side-band']],
])('sends a pack in %s from buffers that are used again', async (_, capabilities) => {
  const { text, error } = await collect(answer(capabilities, passing(Number.POSITIVE_INFINITY)))
  expect(error).toBeNull()
  const bands = bandsOf(text)
  expect([...bands.keys()]).toEqual([1])
  expect(sha1(bands.get(1)!)).toBe(sha1(bytes))
})

it('sends a bare pack to a client without side bands', async () => {
  const { text, error } = await collect(answer([], passing(Number.POSITIVE_INFINITY)))
  expect(error).toBeNull()
  expect(text.toString('latin1', 0, 8)).toBe('0008NAK\n')
  expect(sha1(text.subarray(8))).toBe(sha1(bytes))
})

it('says in the error band that reading has failed in the middle', async () => {
  const { text, error } = await collect(answer(['side-band-64k'], passing(2)))
  expect(error).toBeNull()
  expect(bandsOf(text).has(3)).toBe(true)
})

it('breaks a bare pack off where reading fails: words would be taken for a part of it', async () => {
  const { text, error } = await collect(answer([], passing(2)))
  expect(error).toMatchObject({ message: 'R2 is on fire' })
  expect(text.subarray(8)).toEqual(Buffer.from(bytes.subarray(0, text.length - 8)))
})

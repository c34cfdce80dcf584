import { describe, expect, it } from 'vitest'
import {
  drain,
  gatherChunks,
  peekStream,
  readToEnd,
  sliceStream,
  streamChunks,
} from '../../../workers/http/byte-stream.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

/** Gives chunks and notes how far it got, and whether it was told to stop. */
function source(chunks: readonly Uint8Array[], options: { readonly failsAfter?: number } = {}) {
  const seen = { given: 0, isStopped: false }
  const generate = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (const chunk of chunks) {
        if (seen.given === options.failsAfter) throw new Error('broken off')
        seen.given++
        yield chunk
      }
    } finally {
      seen.isStopped = true
    }
  }
  return { seen, chunks: generate() }
}

async function allOf(chunks: AsyncIterable<Uint8Array>): Promise<number[][]> {
  const all: number[][] = []
  for await (const chunk of chunks) all.push([...chunk])
  return all
}

describe('readToEnd', () => {
  it('gives what it is given', async () => {
    expect(await allOf(readToEnd(source([bytes(1), bytes(2)]).chunks))).toEqual([[1], [2]])
  })

  it('reads the rest where its reader leaves early, also by an error', async () => {
    const left = source([bytes(1), bytes(2), bytes(3)])
    for await (const _ of readToEnd(left.chunks)) break
    expect(left.seen).toEqual({ given: 3, isStopped: true })
    const failed = source([bytes(1), bytes(2), bytes(3)])
    const reading = async () => {
      for await (const _ of readToEnd(failed.chunks)) throw new Error('no pack')
    }
    await expect(reading()).rejects.toThrow('no pack')
    expect(failed.seen.given).toBe(3)
  })

  it('passes on that its source broke off, and asks it for nothing more', async () => {
    const broken = source([bytes(1), bytes(2)], { failsAfter: 1 })
    await expect(allOf(readToEnd(broken.chunks))).rejects.toThrow('broken off')
    expect(broken.seen.given).toBe(1)
  })
})

it('drain reads what nobody has looked at, and does not mind if it breaks off', async () => {
  const untouched = source([bytes(1), bytes(2), bytes(3)])
  await drain(readToEnd(untouched.chunks))
  expect(untouched.seen.given).toBe(3)
  await drain(untouched.chunks)
  const broken = source([bytes(1), bytes(2), bytes(3)], { failsAfter: 2 })
  await drain(readToEnd(broken.chunks))
  expect(broken.seen).toEqual({ given: 2, isStopped: true })
})

describe('streamChunks', () => {
  it('asks only for what is read, and stops its source when it is cancelled', async () => {
    const { seen, chunks } = source([bytes(1), bytes(2), bytes(3), bytes(4)])
    const reader = streamChunks(chunks).getReader()
    expect((await reader.read()).value).toEqual(bytes(1))
    await reader.cancel()
    expect(seen.given).toBeLessThan(4)
    expect(seen.isStopped).toBe(true)
  })

  it('takes a generator that does not wait', async () => {
    const chunks = (function* () {
      yield bytes(1)
      yield bytes(2)
    })()
    expect(await allOf(streamChunks(chunks))).toEqual([[1], [2]])
  })
})

it('sliceStream gives a part, wherever the chunks end, and stops reading after it', async () => {
  const chunks = [bytes(0, 1, 2), bytes(3, 4, 5), bytes(6, 7)]
  const slice = async (start: number, end: number) => {
    return (await allOf(sliceStream(streamChunks(source(chunks).chunks), start, end))).flat()
  }
  expect(await slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(await slice(2, 4)).toEqual([2, 3])
  expect(await slice(3, 6)).toEqual([3, 4, 5])
  expect(await slice(7, 8)).toEqual([7])
  await expect(slice(7, 9)).rejects.toThrow('shorter than its size')
})

it('peekStream gives the start, and the whole all the same', async () => {
  const { start, stream } = await peekStream(streamChunks(source([bytes(1), bytes(2, 3), bytes(4)]).chunks), 2)
  expect(start).toEqual(bytes(1, 2, 3))
  expect((await allOf(stream)).flat()).toEqual([1, 2, 3, 4])
})

it('gatherChunks joins small chunks, and loses none', async () => {
  const small = Array.from({ length: 70 }, (_, i) => new Uint8Array(1024).fill(i))
  const gathered = await allOf(gatherChunks(source(small).chunks))
  expect(gathered.map(({ length }) => length)).toEqual([64 * 1024, 6 * 1024])
  expect(gathered.flat()).toEqual(small.flatMap((chunk) => [...chunk]))
})

import { expect, it } from 'vitest'
import { MemoryAccount, REQUEST_MEMORY } from '../../../git/bytes/memory-account.ts'
import { BufferRange } from '../../../git/bytes/range.ts'
import { type IngestedPack, ingestPack } from '../../../git/graph/ingest-pack.ts'
import { PackError } from '../../../git/pack/entry-header.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { manyObjects } from '../many-objects.ts'
import { packOf, seededRandom } from '../packs.ts'

function ingest(pack: Uint8Array, memory: MemoryAccount): Promise<IngestedPack> {
  return ingestPack({
    chunks: (async function* () {
      for (let at = 0; at < pack.length; at += 65536) yield pack.subarray(at, at + 65536)
    })(),
    reopen: async () => new BufferRange(pack),
    known: null,
    strict: true,
    memory,
  })
}

/** A history of one large file that changes a little each time: its deltas are large, and so are their bases. */
function deltasPack(): Uint8Array {
  using repository = new ScratchRepository({ bare: true })
  const random = seededRandom(7)
  const lines = Array.from({ length: 4000 }, () => Array.from({ length: 8 }, () => random(1e9)).join(' '))
  const stream: string[] = []
  for (let commit = 1; commit <= 60; commit++) {
    for (let edit = 0; edit < 400; edit++) lines[random(lines.length)] = `${random(1e9)} ${random(1e9)} ${random(1e9)}`
    const text = `${lines.join('\n')}\n`
    stream.push(`commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + commit} +0000\ndata 1\n.`)
    stream.push(`M 100644 inline file\ndata ${text.length}\n${text}`)
  }
  repository.git(['fast-import', '--quiet', '--force'], `${stream.join('\n')}\n`)
  repository.git(['repack', '-adfq', '--depth=50', '--window=10'])
  return packOf(repository, ['refs/heads/main'])
}

it(
  'a pack is taken in the same where caches have to be let go, and refused where even that is not enough',
  GIT_TIME,
  async () => {
    const pack = deltasPack()
    const ample = new MemoryAccount(Number.POSITIVE_INFINITY)
    const expected = await ingest(pack, ample)
    expect(ample.peak).toBeGreaterThan(1024 * 1024)

    const tight = new MemoryAccount(ample.peak - 900 * 1024)
    const ingested = await ingest(pack, tight)
    expect(tight.peak).toBeLessThanOrEqual(ample.peak - 900 * 1024)
    expect(ingested).toEqual(expected)

    await expect(ingest(pack, new MemoryAccount(100 * 1024))).rejects.toThrow(PackError)
  },
)

it('a pack of almost half a million objects is taken in within what a request may hold', GIT_TIME, async () => {
  const { pack, objects } = manyObjects({ commits: 18_000, files: 24 })
  const memory = new MemoryAccount()
  const ingested = await ingest(pack, memory)
  expect(ingested.objects).toBe(objects)
  expect(objects).toBeGreaterThan(450_000)
  // Less than that cannot be right: its tables and its index alone take more.
  expect(memory.peak).toBeGreaterThan(objects * 90)
  expect(memory.peak).toBeLessThanOrEqual(REQUEST_MEMORY)
})

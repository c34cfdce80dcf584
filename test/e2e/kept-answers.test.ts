import { describe, expect, test, vi } from 'vitest'
import { startWorld } from './harness.ts'
import { randomBytes, writeHistory } from './history.ts'
import { pktLine } from './wire.ts'
import type { WorkingCopy } from './working-copy.ts'

const world = await startWorld()
const { alice, edge } = world

const work = await world.init()
await writeHistory(work, { commits: 40, seed: 9, oddNames: false })
await work.git('push', '--quiet', '--mirror', world.as(alice, 'app'))

/** Asks for a clone, as a client of v2 does. */
function ask(repository: string, want: string, signal?: AbortSignal): Promise<Response> {
  const lines = ['ofs-delta\n', 'no-progress\n', `want ${want}\n`, 'done\n'].map((line) => pktLine(line))
  return fetch(`${world.at(alice, repository)}/git-upload-pack`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: Buffer.concat([pktLine('command=fetch\n'), Buffer.from('0001'), ...lines, Buffer.from('0000')]),
    ...(signal === undefined ? {} : { signal }),
  })
}

const isHit = (response: Response) => response.headers.get('Cache-Status') === 'skein; hit'

/** Answers that the edge has given from the cache so far. */
const hits = () => edge.logs.filter(({ message }) => /^{"event":"fetched".*"isKept":true/.test(message)).length

/** Clones until an answer comes from the cache. @returns the first clone, and that one */
async function cloneTwice(...args: string[]): Promise<[WorkingCopy, WorkingCopy]> {
  const clone = () => world.clone('--bare', ...args, world.at(alice, 'app'))
  const first = await clone()
  const before = hits()
  const second = await vi.waitFor(
    async () => {
      const copy = await clone()
      expect(hits()).toBeGreaterThan(before)
      return copy
    },
    { timeout: 10_000 },
  )
  return [first, second]
}

describe('a question that was asked before', () => {
  test.each([
    ['a whole clone', []],
    ['protocol v0', ['-c', 'protocol.version=0']],
    ['protocol v1', ['-c', 'protocol.version=1', '--single-branch']],
    ['a shallow clone', ['--depth=1']],
    ['a shallow clone by date', ['--shallow-since=2005-04-10']],
    ['a partial clone', ['--filter=blob:none', '--single-branch']],
    ['a clone without tags', ['--no-tags', '--single-branch', '--depth=3']],
  ])('is answered from the cache: %s', async (_, args) => {
    const [first, second] = await cloneTwice(...args)
    expect(await second.refs()).toEqual(await first.refs())
    expect(await second.git('count-objects', '--verbose')).toBe(await first.git('count-objects', '--verbose'))
    if (!args.includes('--filter=blob:none')) await second.fsck()
  })

  test('is computed where the client says no-store', async () => {
    const header = 'http.extraHeader=Cache-Control: no-store'
    await cloneTwice()
    const before = hits()
    await (await world.clone('-c', header, '--bare', world.at(alice, 'app'))).fsck()
    expect(hits()).toBe(before)
  })

  test('is another question once something was pushed', async () => {
    const before = await work.resolve('main')
    await work.commit('pushed later', { 'later.txt': 'later\n' })
    await work.git('push', '--quiet', world.as(alice, 'app'), 'main')
    const clone = await world.clone('--bare', world.at(alice, 'app'))
    expect(await clone.resolve('main')).toBe(await work.resolve('main'))
    expect(await clone.resolve('main^')).toBe(before)
    await clone.fsck()
  })

  test('brings a tag that was pushed since, where tags are to be sent along', async () => {
    const clone = (...args: string[]) => world.clone('--bare', '--single-branch', ...args, world.at(alice, 'app'))
    await clone()
    await work.git('tag', '--annotate', '--message', 'later', 'later', 'main')
    await work.git('push', '--quiet', world.as(alice, 'app'), 'later')
    const copy = await clone()
    expect(await copy.resolve('later')).toBe(await work.resolve('later'))
    await copy.fsck()
  })

  test('is not answered any more once the repository is gone', async () => {
    await work.git('push', '--quiet', world.as(alice, 'gone'), 'main')
    await world.clone('--bare', world.at(alice, 'gone'))
    const records = await world.records(alice, 'dev.skein.repo')
    const { uri } = records.find(({ value }) => value.name === 'gone')!
    const main = await work.resolve('main')
    await world.deleteRecord(alice, uri)
    await edge.wipe('do')
    const response = await ask('gone', main)
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toContain('repository not found')
  })
})

test('what a client has left before its end is not kept', async () => {
  const big = await world.init()
  await big.commit('big', { 'big.bin': randomBytes(24_000_000, 11) })
  await big.git('push', '--quiet', world.as(alice, 'big'), 'main')
  const want = await big.resolve('main')
  const leaving = new AbortController()
  const reader = (await ask('big', want, leaving.signal)).body!.getReader()
  await reader.read()
  leaving.abort()
  const second = await ask('big', want)
  expect(isHit(second)).toBe(false)
  const bytes = Buffer.from(await second.arrayBuffer())
  const third = await vi.waitFor(
    async () => {
      const response = await ask('big', want)
      const answer = { isHit: isHit(response), bytes: Buffer.from(await response.arrayBuffer()) }
      expect(answer.isHit).toBe(true)
      return answer
    },
    { timeout: 10_000 },
  )
  expect(Buffer.compare(third.bytes, bytes)).toBe(0)
})

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { randomBytes } from './history.ts'
import { basicAuth, FLUSH, pktLine, type RefUpdate, readReport, receivePackRequest } from './wire.ts'
import type { WorkingCopy } from './working-copy.ts'

const world = await startWorld()
const { alice } = world

// Every push in this file is to be refused: the account has one commit from here on, and one ref to show.
const work = await world.init()
const base = await work.commit('base', { 'a.txt': 'a\n', 'b.txt': 'b\n' })
await work.git('push', '--quiet', world.as(alice, 'app'), 'main')
const head = await work.commit('next', { 'a.txt': `${'a long line\n'.repeat(500)}` })
const wholePack = await packOf(work, ['HEAD', '^HEAD~1'])

async function packOf(copy: WorkingCopy, revisions: string[], ...options: string[]): Promise<Buffer> {
  const { output, status, stderr } = await copy.tryWith(
    { input: `${revisions.join('\n')}\n` },
    'pack-objects',
    '--quiet',
    '--stdout',
    '--revs',
    ...options,
  )
  if (status !== 0) throw new Error(stderr)
  return output
}

async function push(
  updates: RefUpdate[],
  pack: Uint8Array,
): Promise<{ status: number; report: string[]; text: string }> {
  const response = await post(receivePackRequest(updates, pack))
  const bytes = Buffer.from(await response.arrayBuffer())
  const report = response.status === 200 ? readReport(bytes) : []
  return { status: response.status, report, text: bytes.toString() }
}

function post(body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${world.at(alice, 'app')}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: basicAuth(alice), 'content-type': 'application/x-git-receive-pack-request', ...headers },
    body: new Uint8Array(body),
  })
}

async function expectNothingChanged(action: () => Promise<void>): Promise<void> {
  const before = {
    account: await world.accountCommit(alice),
    refs: await work.git('ls-remote', world.at(alice, 'app')),
  }
  await action()
  const after = { account: await world.accountCommit(alice), refs: await work.git('ls-remote', world.at(alice, 'app')) }
  expect(after).toEqual(before)
}

/** The same pack with other bytes, and a trailer that fits them. */
function rehashed(pack: Buffer, change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(pack.subarray(0, -20))
  change(bytes)
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()])
}

function flipBit(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] as number) ^ 1
  return bytes
}

describe('a pack that is no whole pack is refused with `unpack …` and `ng` for every ref, and nothing is written', () => {
  const cases: [string, () => Buffer][] = [
    ['cut off in its header', () => wholePack.subarray(0, 7)],
    ['cut off in an object', () => wholePack.subarray(0, wholePack.length - 60)],
    ['cut off before its trailer', () => wholePack.subarray(0, -20)],
    ['cut off in its trailer', () => wholePack.subarray(0, -1)],
    ['with a wrong trailer', () => flipBit(Buffer.from(wholePack), wholePack.length - 1)],
    ['with a flipped bit in an object', () => flipBit(Buffer.from(wholePack), 40)],
    ['with a flipped bit and a trailer that fits', () => rehashed(wholePack, (bytes) => flipBit(bytes, 40))],
    ['with another signature', () => rehashed(wholePack, (bytes) => bytes.write('JUNK'))],
    ['of version 9', () => rehashed(wholePack, (bytes) => bytes.writeUInt32BE(9, 4))],
    ['that promises more objects than it has', () => rehashed(wholePack, (bytes) => bytes.writeUInt32BE(50, 8))],
    ['that has more objects than it promises', () => rehashed(wholePack, (bytes) => bytes.writeUInt32BE(1, 8))],
    ['that promises four billion objects', () => rehashed(wholePack, (bytes) => bytes.writeUInt32BE(0xffffffff, 8))],
    ['with an entry of the unused type', () => rehashed(wholePack, (bytes) => bytes.writeUInt8(0x50, 12))],
    [
      'with an entry that declares four gigabytes',
      () => rehashed(wholePack, (bytes) => bytes.write('\xbf\xff\xff\xff\x7f', 12, 'latin1')),
    ],
    ['that is garbage', () => Buffer.from('not a pack at all, but long enough to be taken for one')],
    ['that is missing', () => Buffer.alloc(0)],
  ]
  test.each(cases)('%s', async (_, pack) => {
    await expectNothingChanged(async () => {
      const updates = [
        { name: 'refs/heads/main', from: base, to: head },
        { name: 'refs/heads/other', to: head },
      ]
      const { status, report } = await push(updates, pack())
      expect(status).toBe(200)
      expect(report[0]).toMatch(/^unpack (?!ok$)/)
      expect(report.slice(1).sort()).toEqual([
        expect.stringMatching(/^ng refs\/heads\/main ./),
        expect.stringMatching(/^ng refs\/heads\/other ./),
      ])
    })
  })
})

test('real git, still sending a large pack that was found bad at its start, is told why', async () => {
  const large = await world.init()
  await large.commit('large', { 'large.bin': randomBytes(20_000_000, 9) })
  // Commits and trees are sent first: this one is refused while the blob is on its way.
  const [blob] = (await large.git('rev-parse', 'HEAD:large.bin')).split('\n')
  const body = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob as string, 'hex')])
  const tree = await large.tryWith({ input: body }, 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin')
  const commit = await large.git('commit-tree', tree.stdout.trim(), '-m', 'evil')
  await expectNothingChanged(async () => {
    const { status, stderr } = await large.try('push', world.as(alice, 'app'), `${commit}:refs/heads/evil`)
    expect(status).toBe(1)
    expect(stderr).toMatch(/remote unpack failed: object [0-9a-f]{40}: .*\.git/)
  })
})

test('a thin pack whose base nobody has', async () => {
  const stranger = await world.init()
  await stranger.commit('one', { 'long.txt': `${Array.from({ length: 3000 }, (_, n) => `line ${n}`).join('\n')}\n` })
  const tip = await stranger.commit('two', {
    'long.txt': `${Array.from({ length: 3001 }, (_, n) => `line ${n}`).join('\n')}\n`,
  })
  const thin = await packOf(stranger, ['HEAD', '^HEAD~1'], '--thin')
  await expectNothingChanged(async () => {
    const { report } = await push([{ name: 'refs/heads/thin', to: tip }], thin)
    expect(report[0]).toMatch(/^unpack (?!ok$)/)
    expect(report[1]).toMatch(/^ng refs\/heads\/thin /)
  })
})

test('a ref to an object that neither the pack nor the repository has', async () => {
  await expectNothingChanged(async () => {
    const { report } = await push([{ name: 'refs/heads/absent', to: 'c0ffee'.padEnd(40, '0') }], wholePack)
    expect(report[1]).toMatch(/^ng refs\/heads\/absent missing necessary objects/)
  })
})

test('an empty pack, and a ref to an unknown id', async () => {
  await expectNothingChanged(async () => {
    const empty = rehashed(Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\0'), Buffer.alloc(20)]), () => undefined)
    const { report } = await push([{ name: 'refs/heads/absent', to: 'c0ffee'.padEnd(40, '0') }], empty)
    expect(report[1]).toMatch(/^ng refs\/heads\/absent missing necessary objects/)
  })
})

test('a commit whose parent nobody has', async () => {
  const stranger = await world.init()
  await stranger.commit('unknown parent', { 'x.txt': 'x\n' })
  const tip = await stranger.commit('child', { 'x.txt': 'y\n' })
  await expectNothingChanged(async () => {
    const { report } = await push([{ name: 'refs/heads/orphan', to: tip }], await packOf(stranger, ['HEAD', '^HEAD~1']))
    expect(report[1]).toMatch(/^ng refs\/heads\/orphan missing necessary objects/)
  })
})

test('a commit whose tree names a blob that nobody has', async () => {
  const tree = await work.tryWith(
    { input: '100644 blob c0ffee0000000000000000000000000000000000\tlost.txt\n' },
    'mktree',
    '--missing',
  )
  const commit = await work.git('commit-tree', tree.stdout.trim(), '-p', base, '-m', 'a hole in the tree')
  const { output } = await work.tryWith({ input: `${commit}\n${tree.stdout}` }, 'pack-objects', '--quiet', '--stdout')
  await expectNothingChanged(async () => {
    const { report } = await push([{ name: 'refs/heads/hole', to: commit }], output)
    expect(report[1]).toMatch(/^ng refs\/heads\/hole missing necessary objects/)
  })
})

test.each([
  ['..', '..'],
  ['.', '.'],
  ['.git', '.git'],
  ['.GIT', '.GIT'],
])('a tree with the name %s is refused', async (_, name) => {
  const blob = (await work.tryWith({ input: 'x' }, 'hash-object', '-w', '--stdin')).stdout.trim()
  const body = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
  const tree = (
    await work.tryWith({ input: body }, 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin')
  ).stdout.trim()
  const commit = await work.git('commit-tree', tree, '-m', 'evil')
  const { output } = await work.tryWith(
    { input: `${commit}\n${tree}\n${blob}\n` },
    'pack-objects',
    '--quiet',
    '--stdout',
  )
  await expectNothingChanged(async () => {
    const { report } = await push([{ name: 'refs/heads/evil', to: commit }], output)
    expect(report.find((line) => line.startsWith('ng refs/heads/evil'))).toBeDefined()
  })
})

test('a branch at a blob is refused, a tag at one is taken', async () => {
  const blob = (await work.tryWith({ input: 'just a blob' }, 'hash-object', '-w', '--stdin')).stdout.trim()
  const refused = await work.try('push', world.as(alice, 'blob'), `${blob}:refs/heads/blob`)
  expect(refused.status).not.toBe(0)
  await work.git('push', '--quiet', world.as(alice, 'blob'), `${blob}:refs/tags/blob`)
  expect(await work.git('ls-remote', world.at(alice, 'blob'))).toBe(`${blob}\trefs/tags/blob`)
})

test('an old id of zero on a ref that exists is an `ng` that says to fetch first', async () => {
  await expectNothingChanged(async () => {
    const { report } = await push([{ name: 'refs/heads/main', to: head }], wholePack)
    expect(report.at(-1)).toMatch(/^ng refs\/heads\/main ./)
  })
})

describe('requests that are no push', () => {
  const cases: [string, Uint8Array][] = [
    ['nothing at all', Buffer.alloc(0)],
    ['garbage', Buffer.from('GARBAGE GARBAGE')],
    ['half a pkt-line', Buffer.from('00ff0000000')],
    ['commands without a flush', pktLine(`${base} ${head} refs/heads/main\0report-status`)],
    ['a command that is no command', Buffer.concat([pktLine('hello'), FLUSH])],
    [
      'an id of the wrong length',
      Buffer.concat([pktLine(`${base.slice(1)} ${head} refs/heads/main\0report-status`), FLUSH]),
    ],
  ]
  test.each(cases)('%s: an error at once, and nothing written', async (_, body) => {
    await expectNothingChanged(async () => {
      const response = await post(body)
      const text = await response.text()
      expect([response.status, text]).toEqual([200, expect.stringMatching(/^[0-9a-f]{4}ERR ./)])
    })
  })

  test('a wrong content type is a 415, and a GET a 405', async () => {
    const wrong = await post(Buffer.from('0000'), { 'content-type': 'text/plain' })
    expect(wrong.status).toBe(415)
    const get = await fetch(`${world.at(alice, 'app')}/git-receive-pack`, {
      headers: { authorization: basicAuth(alice) },
    })
    expect(get.status).toBe(405)
  })

  test('a body that claims to be gzip and is not', async () => {
    await expectNothingChanged(async () => {
      const response = await post(receivePackRequest([{ name: 'refs/heads/main', from: base, to: head }], wholePack), {
        'content-encoding': 'gzip',
      })
      const text = await response.text()
      expect([response.status, text]).toEqual([400, expect.stringContaining('gzip')])
    })
  })
})

test('after all of these, the good pack is taken', async () => {
  const { report } = await push([{ name: 'refs/heads/main', from: base, to: head }], wholePack)
  expect(report).toEqual(['unpack ok', 'ok refs/heads/main'])
})

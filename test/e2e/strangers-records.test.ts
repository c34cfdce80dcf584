import { expect, test } from 'vitest'
import { packKey, refKey } from '../../atproto/records/record-keys.ts'
import { TidClock } from '../../atproto/records/tid.ts'
import { startWorld } from './harness.ts'
import type { WorkingCopy } from './working-copy.ts'

// Other programs write records too, straight into the account: in any order, and with anything in them.
const world = await startWorld()
const { alice } = world
const tids = new TidClock()

const createdAt = new Date(0).toISOString()
const ABSENT = 'b'.repeat(40)

async function createRepository(name: string): Promise<string> {
  const rkey = tids.next()
  await world.createRecord(alice, 'dev.skein.repo', rkey, {
    name,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt,
  })
  return rkey
}

/** Writes a pack's record; `pack` is what `git pack-objects` wrote. */
async function createPack(repo: string, tid: string, pack: Buffer, fields: object = {}): Promise<string> {
  const key = packKey(repo, tid)
  await world.createRecord(alice, 'dev.skein.pack', key, {
    bytes: { $bytes: pack.toString('base64').replace(/=+$/, '') },
    size: pack.length,
    objects: pack.readUInt32BE(8),
    checksum: pack.subarray(-20).toString('hex'),
    thin: false,
    createdAt,
    ...fields,
  })
  return key
}

async function createRef(repo: string, name: string, target: string, pack?: string): Promise<void> {
  await world.createRecord(alice, 'dev.skein.ref', refKey(repo, name, 1), {
    name,
    target,
    seq: 1,
    ...(pack === undefined ? {} : { pack }),
  })
}

async function packOf(work: WorkingCopy, revisions: string, ...options: string[]): Promise<Buffer> {
  const { output } = await work.tryWith(
    { input: revisions },
    'pack-objects',
    '--revs',
    '--stdout',
    '--quiet',
    '--delta-base-offset',
    ...options,
  )
  return output
}

/** Two commits that share most of a file, so that the second is a delta on the first where that is allowed. */
async function twoCommits(): Promise<{ work: WorkingCopy; first: string; second: string }> {
  const work = await world.init()
  const lines = Array.from({ length: 400 }, (_, n) => `line ${n} of a file that hardly changes\n`)
  const first = await work.commit('first', { 'a.txt': lines.join('') })
  const second = await work.commit('second', { 'a.txt': [...lines, 'one more\n'].join('') })
  return { work, first, second }
}

test('a thin pack that is listed before its base is taken in after it', async () => {
  const { work, first, second } = await twoCommits()
  const repo = await createRepository('reordered')
  const earlier = tids.next()
  const later = tids.next()
  await createPack(repo, later, await packOf(work, `${first}\n`))
  const thin = await createPack(repo, earlier, await packOf(work, `${second}\n^${first}\n`, '--thin'), { thin: true })
  await createRef(repo, 'refs/heads/main', second, thin)

  const clone = await world.clone(world.at(alice, 'reordered'))
  expect(await clone.objectIds()).toEqual(await work.objectIds())
  await clone.fsck()
})

test('a pack that replaces others brings what they had, and they go', async () => {
  const { work, first, second } = await twoCommits()
  const repo = await createRepository('compacted')
  const old = await createPack(repo, tids.next(), await packOf(work, `${first}\n`))
  await createRef(repo, 'refs/heads/main', first, old)
  await world.clone(world.at(alice, 'compacted'))

  const merged = await createPack(repo, tids.next(), await packOf(work, `${second}\n`), { replaces: [old] })
  await createRef(repo, 'refs/heads/next', second, merged)
  await world.edge.wipe()
  const clone = await world.clone('--mirror', world.at(alice, 'compacted'))
  expect(await clone.resolve('refs/heads/next')).toBe(second)
  await clone.fsck()
})

test('refs to what is nowhere, and packs that cannot be read, do not spoil the rest', async () => {
  const { work, second } = await twoCommits()
  const repo = await createRepository('spoilt')
  const good = await createPack(repo, tids.next(), await packOf(work, `${second}\n`))
  await createPack(repo, tids.next(), Buffer.from('PACK, says the stranger, and means something else'))
  const orphan = await packOf(work, `${second}\n^${second}~1\n`)
  await createPack(repo, tids.next(), Buffer.concat([orphan.subarray(0, -1), Buffer.of(orphan.at(-1)! ^ 1)]))
  await createRef(repo, 'refs/heads/main', second, good)
  await createRef(repo, 'refs/heads/absent', ABSENT)
  await createRef(repo, 'refs/tags/absent', ABSENT, packKey(repo, tids.next()))

  const clone = await world.clone('--mirror', world.at(alice, 'spoilt'))
  expect(Object.keys(await clone.refs())).toEqual(['refs/heads/main'])
  await clone.fsck()
  // And it can be written to all the same.
  const head = await work.commit('third', { 'b.txt': 'b\n' })
  await work.git('push', '--quiet', world.as(alice, 'spoilt'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'spoilt'), 'main')).toBe(`${head}\trefs/heads/main`)
})

test('a ref whose history is cut off is left out until the rest comes', async () => {
  const { work, first, second } = await twoCommits()
  const repo = await createRepository('cut-off')
  const top = await createPack(repo, tids.next(), await packOf(work, `${second}\n^${first}\n`))
  await createRef(repo, 'refs/heads/main', second, top)
  const before = await work.try('ls-remote', world.at(alice, 'cut-off'), 'refs/heads/main')
  expect(before.status).toBe(0)
  const clone = await world.clone(world.at(alice, 'cut-off'))
  expect(await clone.refs()).toEqual({})

  await createPack(repo, tids.next(), await packOf(work, `${first}\n`))
  await world.edge.wipe()
  const whole = await world.clone(world.at(alice, 'cut-off'))
  expect(await whole.objectIds()).toEqual(await work.objectIds())
  await whole.fsck()
})

test('of two refs that git cannot have side by side one is left out until the other goes', async () => {
  const { work, second } = await twoCommits()
  const repo = await createRepository('side-by-side')
  const pack = await createPack(repo, tids.next(), await packOf(work, `${second}\n`))
  await createRef(repo, 'refs/heads/main', second, pack)
  await createRef(repo, 'refs/heads/topic/one', second, pack)
  await createRef(repo, 'refs/heads/topic', second, pack)
  const heads = async () => Object.keys(await (await world.clone('--mirror', world.at(alice, 'side-by-side'))).refs())
  expect(await heads()).toEqual(['refs/heads/main', 'refs/heads/topic'])
  await work.git('push', '--quiet', world.as(alice, 'side-by-side'), ':refs/heads/topic')
  expect(await heads()).toEqual(['refs/heads/main', 'refs/heads/topic/one'])
})

test('a branch that cannot be read is not begun anew, but replaced where that is asked for, or healed', async () => {
  const { work, first, second } = await twoCommits()
  const repo = await createRepository('unreadable')
  const pack = await createPack(repo, tids.next(), await packOf(work, `${second}\n`), { thin: 'no' })
  await createRef(repo, 'refs/heads/main', second, pack)
  await createRef(repo, 'refs/heads/other', second, pack)
  const other = await world.init()
  const stranger = await other.commit('of another history', { 'b.txt': 'b\n' })
  const address = world.as(alice, 'unreadable')

  const refused = await other.try('push', address, 'HEAD:main')
  expect(refused.status).not.toBe(0)
  expect(refused.stderr).toMatch(
    new RegExp(`remote rejected.*it is at ${second} in the account.*skein.replace-unreadable`),
  )
  expect((await work.try('push', address, `${first}:refs/heads/main`)).status).not.toBe(0)

  await other.git('push', '--quiet', '-o', 'skein.replace-unreadable', address, 'HEAD:main')
  await work.git('push', '--quiet', address, `${second}:refs/heads/other`)
  const { stdout } = await world.git.run(['ls-remote', world.at(alice, 'unreadable')])
  expect(stdout).toBe(`${stranger}\tHEAD\n${stranger}\trefs/heads/main\n${second}\trefs/heads/other\n`)
})

import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { writeHistory } from './history.ts'

const world = await startWorld()
const { alice, bob } = world

test('a push creates the repository, and a clone brings back the same objects', async () => {
  const work = await world.init()
  await writeHistory(work, { commits: 120, seed: 1 })
  await work.git('push', '--quiet', '--mirror', world.as(alice, 'created'))

  const clone = await world.clone('--mirror', world.at(alice, 'created'))
  expect(await clone.objectIds()).toEqual(await work.objectIds())
  expect(await clone.refs()).toEqual(await work.refs())
  await clone.fsck()
})

test('the account holds one repository record, and what was pushed', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'in-the-account'), 'main')

  const repositories = await world.records(alice, 'dev.skein.repo')
  const created = repositories.filter(({ value }) => value.name === 'in-the-account')
  expect(created).toHaveLength(1)
  expect(created[0]?.value).toMatchObject({ $type: 'dev.skein.repo', defaultBranch: 'main', objectFormat: 'sha1' })
})

test.each(['', '.git', '/', '.git/'])('the address ends in "%s"', async (ending) => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', `${world.as(alice, 'endings')}${ending}`, '+main')
  expect(await work.git('ls-remote', `${world.at(alice, 'endings')}${ending}`, 'main')).toBe(`${head}\trefs/heads/main`)
})

test('the address may name the account by its DID', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'by-did'), 'main')
  const clone = await world.clone(`${world.edge.url}/${alice.did}/by-did`)
  expect(await clone.resolve('HEAD')).toBe(head)
})

test('a second push and a fetch bring only what is new', async () => {
  const work = await world.init()
  await writeHistory(work, { commits: 60, seed: 2 })
  await work.git('push', '--quiet', world.as(alice, 'growing'), 'main')
  const clone = await world.clone(world.at(alice, 'growing'))

  const head = await work.commit('one more', { 'new.txt': 'new\n' })
  await work.git('push', '--quiet', world.as(alice, 'growing'), 'main')
  const before = await clone.objectCount()
  await clone.git('fetch', '--quiet', 'origin')
  expect((await clone.objectCount()) - before).toBe(3)
  expect(await clone.resolve('origin/main')).toBe(head)
  await clone.fsck()

  // Nothing is new: git sends no want, and says nothing.
  expect((await clone.try('fetch', 'origin')).stderr).toBe('')
})

test('what somebody else cloned is pushed back by the owner, and pulled again', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'to-and-fro'), 'main')
  const one = await world.clone(world.as(alice, 'to-and-fro'))
  const two = await world.clone(world.as(alice, 'to-and-fro'))

  const theirs = await one.commit('from one', { 'one.txt': '1\n' })
  await one.git('push', '--quiet')
  await two.commit('from two', { 'two.txt': '2\n' })
  const refused = await two.try('push')
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/\[rejected\].*\(fetch first\)/)

  await two.git('pull', '--quiet', '--rebase')
  await two.git('push', '--quiet')
  expect(await two.resolve('HEAD~1')).toBe(theirs)
  await one.git('pull', '--quiet')
  expect(await one.resolve('HEAD')).toBe(await two.resolve('HEAD'))
})

test('a forced push replaces the branch, and the old commit is not served to a clone', async () => {
  const work = await world.init()
  await work.commit('base', { 'a.txt': 'a\n' })
  const old = await work.commit('regretted', { 'secret.txt': 's\n' })
  await work.git('push', '--quiet', world.as(alice, 'forced'), 'main')
  await work.git('reset', '--quiet', '--hard', 'HEAD~1')
  const head = await work.commit('better', { 'b.txt': 'b\n' })

  expect((await work.try('push', world.as(alice, 'forced'), 'main')).stderr).toMatch(/non-fast-forward|fetch first/)
  await work.git('push', '--quiet', '--force', world.as(alice, 'forced'), 'main')
  const clone = await world.clone(world.at(alice, 'forced'))
  expect(await clone.resolve('HEAD')).toBe(head)
  expect((await clone.try('cat-file', '-e', old)).status).not.toBe(0)
  await clone.fsck()
})

test('--force-with-lease compares with what the remote has', async () => {
  const work = await world.init()
  const first = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'leased'), 'main')
  const second = await work.commit('second', { 'a.txt': 'b\n' })
  const stale = await work.try('push', `--force-with-lease=main:${second}`, world.as(alice, 'leased'), 'main')
  expect(stale.stderr).toMatch(/stale info/)
  await work.git('push', '--quiet', `--force-with-lease=main:${first}`, world.as(alice, 'leased'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'leased'), 'main')).toContain(second)
})

test('several branches in one push, a new one, one that moves and one that is deleted', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('branch', 'old')
  await work.git('branch', 'topic/one')
  await work.git('push', '--quiet', world.as(alice, 'branches'), '--all')
  await work.commit('second', { 'b.txt': 'b\n' })
  await work.git('branch', 'topic/two')
  await work.git('branch', '--delete', '--force', 'old')
  await work.git('push', '--quiet', world.as(alice, 'branches'), 'main', 'topic/two', ':old')

  const clone = await world.clone('--mirror', world.at(alice, 'branches'))
  expect(await clone.refs()).toEqual(await work.refs())
})

test('a branch that was deleted can be created again', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  const address = world.as(alice, 'deleted')
  await work.git('push', '--quiet', address, 'main', 'main:topic')
  const { stderr } = await work.try('push', address, ':topic')
  expect(stderr).toMatch(/\[deleted\]\s+topic/)
  expect(await work.git('ls-remote', address, 'topic')).toBe('')
  await work.git('push', '--quiet', address, 'main:topic')
  expect(await work.git('ls-remote', address, 'refs/heads/topic')).not.toBe('')
})

test('tags come along: lightweight, annotated, and a tag of a tag, which a clone peels', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('tag', 'light')
  await work.git('tag', '--annotate', '--message', 'inner', 'inner')
  await work.git('tag', '--annotate', '--message', 'outer', 'outer', 'inner')
  await work.git('push', '--quiet', world.as(alice, 'tags'), 'main', '--tags')

  const listing = await work.git('ls-remote', '--tags', world.at(alice, 'tags'))
  expect(listing.split('\n').sort((a, b) => a.slice(41).localeCompare(b.slice(41)))).toEqual([
    `${await work.resolve('inner')}\trefs/tags/inner`,
    `${head}\trefs/tags/inner^{}`,
    `${head}\trefs/tags/light`,
    `${await work.resolve('outer')}\trefs/tags/outer`,
    `${head}\trefs/tags/outer^{}`,
  ])
  const clone = await world.clone(world.at(alice, 'tags'))
  expect(await clone.refs()).toEqual(await work.refs())

  // A branch alone brings the tags that point at what it brings, and --no-tags none.
  const single = await world.clone('--single-branch', '--branch', 'main', world.at(alice, 'tags'))
  expect(await single.git('tag')).toBe('inner\nlight\nouter')
  const without = await world.clone('--no-tags', world.at(alice, 'tags'))
  expect(await without.git('tag')).toBe('')
})

test('a clone by tag, and of one branch', async () => {
  const work = await world.init()
  const first = await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('tag', '--annotate', '--message', 'v1', 'v1')
  await work.commit('second', { 'b.txt': 'b\n' })
  await work.git('push', '--quiet', world.as(alice, 'by-tag'), 'main', 'v1')
  const clone = await world.clone('--branch', 'v1', world.at(alice, 'by-tag'))
  expect(await clone.resolve('HEAD')).toBe(first)
})

test('an empty repository clones with a warning, and its first push goes to the default branch', async () => {
  await world.createRecord(alice, 'dev.skein.repo', '3lzyxwvutsr2a', {
    name: 'empty',
    defaultBranch: 'trunk',
    objectFormat: 'sha1',
    createdAt: new Date(0).toISOString(),
  })
  for (const version of ['0', '1', '2']) {
    const work = await world.init()
    const cloned = await work.try('-c', `protocol.version=${version}`, 'clone', world.as(alice, 'empty'), 'copy')
    expect(cloned.status).toBe(0)
    expect(cloned.stderr).toMatch(/cloned an empty repository/)
  }
  const clone = await world.clone(world.as(alice, 'empty'))
  expect(await clone.git('symbolic-ref', 'HEAD')).toBe('refs/heads/trunk')
  const head = await clone.commit('first', { 'a.txt': 'a\n' })
  await clone.git('push', '--quiet', 'origin', 'HEAD')
  expect(await clone.git('ls-remote', world.at(alice, 'empty'))).toBe(`${head}\tHEAD\n${head}\trefs/heads/trunk`)
})

test('the first branch pushed becomes the default branch', async () => {
  const work = await world.init()
  await work.git('checkout', '--quiet', '-b', 'trunk')
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'trunk'), 'trunk')
  const clone = await world.clone(world.at(alice, 'trunk'))
  expect(await clone.git('symbolic-ref', 'HEAD')).toBe('refs/heads/trunk')
})

test('two accounts may each have a repository of the same name', async () => {
  const [ours, theirs] = [await world.init(), await world.init()]
  const alices = await ours.commit('by alice', { 'a.txt': 'a\n' })
  const bobs = await theirs.commit('by bob', { 'b.txt': 'b\n' })
  await ours.git('push', '--quiet', world.as(alice, 'same'), 'main')
  await theirs.git('push', '--quiet', world.as(bob, 'same'), 'main')
  expect(await ours.git('ls-remote', world.at(alice, 'same'), 'main')).toContain(alices)
  expect(await ours.git('ls-remote', world.at(bob, 'same'), 'main')).toContain(bobs)
})

test('--atomic: one ref that cannot move keeps the others from moving', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'atomic'), 'main')
  const before = await work.git('ls-remote', world.at(alice, 'atomic'))
  const elsewhere = await world.clone(world.as(alice, 'atomic'))
  await elsewhere.commit('elsewhere', { 'b.txt': 'b\n' })
  await work.git('commit', '--quiet', '--amend', '--allow-empty', '--message', 'amended')
  const refused = await work.try('push', '--atomic', world.as(alice, 'atomic'), 'main', 'main:topic')
  expect(refused.status).toBe(1)
  expect(await work.git('ls-remote', world.at(alice, 'atomic'))).toBe(before)

  await work.git('push', '--quiet', '--atomic', world.as(alice, 'atomic'), '+main', 'main:topic')
  expect((await work.git('ls-remote', '--heads', world.at(alice, 'atomic'))).split('\n')).toHaveLength(2)
})

test('--mirror twice, --dry-run and --porcelain say what git says', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  const address = world.as(alice, 'mirrored')
  await work.git('push', '--quiet', '--mirror', address)
  expect((await work.try('push', '--mirror', address)).stderr).toContain('Everything up-to-date')
  await work.commit('second', { 'b.txt': 'b\n' })
  const before = await work.git('ls-remote', address)
  await work.git('push', '--quiet', '--dry-run', address, 'main')
  expect(await work.git('ls-remote', address)).toBe(before)
  expect(await work.git('push', '--porcelain', address, 'main')).toMatch(
    /\n \trefs\/heads\/main:refs\/heads\/main\t.*\nDone/,
  )
})

test('a thin push stores deltas against what is there, and a clone completes them', async () => {
  const work = await world.init()
  const lines = Array.from({ length: 4000 }, (_, n) => `line ${n} ${n * n}`)
  await work.commit('long file', { 'long.txt': lines.join('\n') })
  await work.git('push', '--quiet', world.as(alice, 'thin'), 'main')
  for (const n of [10, 2000, 3990]) {
    lines[n] = `changed ${n}`
    await work.commit(`change line ${n}`, { 'long.txt': lines.join('\n') })
    await work.git('push', '--quiet', '--thin', world.as(alice, 'thin'), 'main')
  }
  const clone = await world.clone(world.at(alice, 'thin'))
  expect(await clone.objectIds()).toEqual(await work.objectIds())
  await clone.fsck()
  await world.edge.wipe()
  const again = await world.clone(world.at(alice, 'thin'))
  expect(await again.objectIds()).toEqual(await work.objectIds())
  await again.fsck()
})

import { expect, test } from 'vitest'
import { ODD_BRANCHES } from '../git/odd-branches.ts'
import { startWorld } from './harness.ts'
import { basicAuth, readReport, receivePackRequest } from './wire.ts'

const world = await startWorld()
const { alice } = world

test('branches of every odd name are pushed, listed, cloned, rebuilt and deleted', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  const address = world.as(alice, 'odd')
  await work.git('push', '--quiet', address, ...ODD_BRANCHES.map((name) => `${head}:refs/heads/${name}`))
  const expected = ODD_BRANCHES.map((name) => `${head}\trefs/heads/${name}`).sort()
  expect((await work.git('ls-remote', '--heads', address)).split('\n').sort()).toEqual(expected)

  await world.edge.wipe()
  const clone = await world.clone('--mirror', address)
  expect(Object.keys(await clone.refs()).sort()).toEqual(ODD_BRANCHES.map((name) => `refs/heads/${name}`).sort())

  const single = await world.clone('--single-branch', '--branch', '日本語', address)
  expect(await single.git('symbolic-ref', '--short', 'HEAD')).toBe('日本語')
  await work.git('push', '--quiet', address, ...ODD_BRANCHES.map((name) => `:refs/heads/${name}`))
  expect(await work.git('ls-remote', '--heads', address)).toBe('')
})

test('`a` conflicts with `a/b`, and no longer once `a` is deleted in the same push', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  const address = world.as(alice, 'conflict')
  await work.git('push', '--quiet', address, 'main:refs/heads/a')
  const refused = await work.try('push', address, 'main:refs/heads/a/b')
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/\[remote rejected\]/)
  await work.git('push', '--quiet', address, ':refs/heads/a', 'main:refs/heads/a/b')
  expect((await work.git('ls-remote', '--heads', address)).slice(41)).toBe('refs/heads/a/b')
  const back = await work.try('push', address, 'main:refs/heads/a')
  expect(back.stderr).toMatch(/\[remote rejected\]/)
})

test('a child and its parent in one push: at most one of them lands', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.try('push', world.as(alice, 'both'), 'main:refs/heads/x', 'main:refs/heads/x/y')
  expect((await work.git('ls-remote', '--heads', world.at(alice, 'both'))).split('\n')).toHaveLength(1)
})

test.each([
  'refs/heads/bad..name',
  'refs/heads/x.lock',
  'refs/heads/with space',
  'refs/heads/a~b',
  'refs/heads/',
  'main',
  'refs/heads/.hidden',
  'refs/heads/ctrl\x01',
  'refs/heads/@{x',
])('%s is refused as a funny refname', async (name) => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  const pack = await work.tryWith({ input: 'HEAD\n' }, 'pack-objects', '--quiet', '--stdout', '--revs')
  const before = await world.accountCommit(alice)
  const response = await fetch(`${world.at(alice, 'funny')}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: basicAuth(alice), 'content-type': 'application/x-git-receive-pack-request' },
    body: new Uint8Array(receivePackRequest([{ name, to: head }], pack.output)),
  })
  expect(response.status).toBe(200)
  expect(readReport(new Uint8Array(await response.arrayBuffer())).at(-1)).toBe(`ng ${name} funny refname`)
  expect(await world.accountCommit(alice)).toBe(before)
})

test('refs outside heads and tags are kept', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('notes', 'add', '--message', 'a note', 'HEAD')
  await work.git('push', '--quiet', world.as(alice, 'notes'), 'main', 'refs/notes/*', 'main:refs/changes/01/1/1')
  const clone = await world.clone('--mirror', world.at(alice, 'notes'))
  expect(Object.keys(await clone.refs())).toEqual(['refs/changes/01/1/1', 'refs/heads/main', 'refs/notes/commits'])
  expect(await clone.git('notes', 'show', 'main')).toBe('a note')
})

test('the same ref twice in one push: the first is taken, the second is not', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': 'a\n' })
  const pack = await work.tryWith({ input: 'HEAD\n' }, 'pack-objects', '--quiet', '--stdout', '--revs')
  const update = { name: 'refs/heads/twice', to: head }
  const response = await fetch(`${world.at(alice, 'twice')}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: basicAuth(alice), 'content-type': 'application/x-git-receive-pack-request' },
    body: new Uint8Array(receivePackRequest([update, update], pack.output)),
  })
  const report = readReport(new Uint8Array(await response.arrayBuffer()))
  expect(report.map((line) => line.split(' ')[0])).toEqual(['unpack', 'ok', 'ng'])
})

import * as fs from 'node:fs'
import { cloneRepository, openRepository } from 'es-git'
import * as isomorphicGit from 'isomorphic-git'
import http from 'isomorphic-git/http/node'
import { describe, expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { writeHistory } from './history.ts'
import { WorkingCopy } from './working-copy.ts'

const world = await startWorld()
const { alice } = world
const author = { name: 'Alice', email: 'alice@example.com' }

const work = await world.init()
await writeHistory(work, { commits: 60, seed: 6, oddNames: false })
await work.git('push', '--quiet', '--all', world.as(alice, 'app'))

describe('isomorphic-git', () => {
  const onAuth = () => ({ username: alice.handle, password: alice.password })

  test('clones, commits, pushes and fetches', async () => {
    const dir = await world.directory()
    await isomorphicGit.clone({ fs, http, dir, url: world.at(alice, 'app'), noCheckout: true })
    const clone = new WorkingCopy(world.git, dir)
    expect(await clone.resolve('HEAD')).toBe(await work.resolve('main'))
    await clone.fsck()

    await isomorphicGit.checkout({ fs, dir, force: true })
    fs.writeFileSync(`${dir}/isomorphic.txt`, 'written in JavaScript\n')
    await isomorphicGit.add({ fs, dir, filepath: 'isomorphic.txt' })
    const head = await isomorphicGit.commit({ fs, dir, message: 'From JavaScript', author })
    const pushed = await isomorphicGit.push({ fs, http, dir, ref: 'main', remoteRef: 'refs/heads/isomorphic', onAuth })
    expect(pushed.ok).toBe(true)
    expect(await work.git('ls-remote', world.at(alice, 'app'), 'refs/heads/isomorphic')).toContain(head)
    await isomorphicGit.fetch({ fs, http, dir, remote: 'origin' })
    expect(await clone.resolve('refs/remotes/origin/isomorphic')).toBe(head)
  })
})

describe('libgit2 (es-git)', () => {
  test('clones, pushes in chunks without a length, and fetches', async () => {
    const directory = await world.directory()
    await cloneRepository(world.at(alice, 'app'), directory)
    const clone = new WorkingCopy(world.git, directory)
    expect(await clone.resolve('HEAD')).toBe(await work.resolve('main'))
    await clone.fsck()

    const head = await clone.commit('From libgit2', { 'libgit2.txt': 'x\n'.repeat(2000) })
    const repository = await openRepository(directory)
    const credential = { type: 'Plain', username: alice.handle, password: alice.password } as const
    await repository.getRemote('origin').push(['refs/heads/main:refs/heads/libgit2'], { credential })
    expect(await work.git('ls-remote', world.at(alice, 'app'), 'refs/heads/libgit2')).toContain(head)
    await repository.getRemote('origin').fetch(['+refs/heads/*:refs/remotes/origin/*'])
    expect(await clone.resolve('refs/remotes/origin/libgit2')).toBe(head)
  })
})

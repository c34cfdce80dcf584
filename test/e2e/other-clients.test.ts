import * as fs from 'node:fs'
import { createRequire } from 'node:module'
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
await work.git('push', '--quiet', '--mirror', world.as(alice, 'app'))

describe('git itself', () => {
  const address = world.at(alice, 'app')

  test('clones with --reference only what that lacks', async () => {
    const older = await world.clone('--bare', '--single-branch', '--branch', 'side-35', address)
    const clone = await world.clone('--reference', older.directory, '--bare', address)
    const own = await clone.git('count-objects', '--verbose')
    expect(Number(/^in-pack: (\d+)$/m.exec(own)?.[1])).toBeLessThan((await work.objectIds()).length)
    expect(await clone.objectIds()).toEqual(await work.objectIds())
    await clone.fsck()
  })

  test('clones one branch, without tags, or a tag as if it were a branch', async () => {
    const one = await world.clone('--single-branch', '--branch', 'side-35', '--no-tags', address)
    expect(await one.refs()).toEqual({ 'refs/heads/side-35': await work.resolve('side-35') })
    expect((await one.objectIds()).length).toBe((await work.git('rev-list', '--objects', 'side-35')).split('\n').length)
    const tag = await world.clone('--single-branch', '--branch', 'outer', address)
    expect(await tag.resolve('HEAD')).toBe(await work.resolve('outer^{commit}'))
    await tag.fsck()
  })

  test('clones a repository together with its submodule, by a relative address', async () => {
    const outer = await world.init()
    await outer.commit('first', { 'outer.txt': 'o\n' })
    await outer.git('submodule', '--quiet', 'add', '--name', 'app', address, 'app')
    await outer.git('config', '--file', '.gitmodules', 'submodule.app.url', '../app')
    await outer.commit('with a submodule')
    await outer.git('push', '--quiet', world.as(alice, 'outer'), 'HEAD:main')
    const clone = await world.clone('--recurse-submodules', '--shallow-submodules', world.at(alice, 'outer'))
    const inner = new WorkingCopy(world.git, `${clone.directory}/app`)
    expect(await inner.resolve('HEAD')).toBe(await work.resolve('main'))
    expect(await inner.git('rev-list', '--count', 'HEAD')).toBe('1')
    await inner.fsck()
  })
})

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

  test('clones one branch by depth, and deepens it', async () => {
    const dir = await world.directory()
    const url = world.at(alice, 'app')
    await isomorphicGit.clone({ fs, http, dir, url, singleBranch: true, depth: 3, noCheckout: true })
    const clone = new WorkingCopy(world.git, dir)
    expect(await clone.git('rev-parse', '--is-shallow-repository')).toBe('true')
    expect(await clone.git('rev-list', '--count', '--first-parent', 'HEAD')).toBe('3')
    await clone.fsck()
    await isomorphicGit.fetch({ fs, http, dir, singleBranch: true, depth: 4, relative: true })
    expect(await clone.git('rev-list', '--count', '--first-parent', 'HEAD')).toBe('7')
    await clone.fsck()
  })
})

/**
 * What is used of es-git, which is libgit2. Its own package only picks one of ten such binaries, and the registry does
 * not have all of them, which makes an honest lock file impossible: so the binary for the machines of CI is taken.
 */
interface Libgit2 {
  cloneRepository(url: string, path: string, options?: { fetch: { depth: number } }): Promise<unknown>
  openRepository(path: string): Promise<{ getRemote(name: string): Libgit2Remote }>
}

interface Libgit2Remote {
  push(
    refspecs: string[],
    options: { credential: { type: 'Plain'; username: string; password: string } },
  ): Promise<void>
  fetch(refspecs: string[]): Promise<void>
}

/** What is used of @napi-rs/simple-git, libgit2 too but by another hand and another version. Its binary, as above. */
interface SimpleGit {
  readonly Repository: {
    clone(url: string, path: string): SimpleGitRepository
    init(path: string): SimpleGitRepository
  }
  readonly FetchOptions: new () => { depth(commits: number): unknown }
}

interface SimpleGitRepository {
  findRemote(name: string): {
    pushAsync(refspecs: string[]): Promise<void>
    fetchAsync(refspecs: string[], options?: unknown): Promise<void>
  }
}

const hasLibgit2 = process.platform === 'linux' && process.arch === 'x64'

describe.runIf(hasLibgit2)('libgit2 (es-git)', () => {
  test('clones by depth', async () => {
    const { cloneRepository } = createRequire(import.meta.url)('es-git-linux-x64-gnu') as Libgit2
    const directory = await world.directory()
    await cloneRepository(world.at(alice, 'app'), directory, { fetch: { depth: 2 } })
    const clone = new WorkingCopy(world.git, directory)
    expect(await clone.git('rev-list', '--count', '--first-parent', 'HEAD')).toBe('2')
    await clone.fsck()
  })

  test('clones, pushes in chunks without a length, and fetches', async () => {
    const { cloneRepository, openRepository } = createRequire(import.meta.url)('es-git-linux-x64-gnu') as Libgit2
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

describe.runIf(hasLibgit2)('libgit2 (@napi-rs/simple-git)', () => {
  const { Repository, FetchOptions } = hasLibgit2
    ? (createRequire(import.meta.url)('@napi-rs/simple-git-linux-x64-gnu') as SimpleGit)
    : ({} as SimpleGit)

  test('clones, pushes a new branch and deletes it, and fetches', async () => {
    const directory = await world.directory()
    const repository = Repository.clone(world.as(alice, 'app'), directory)
    const clone = new WorkingCopy(world.git, directory)
    expect(await clone.resolve('HEAD')).toBe(await work.resolve('main'))
    await clone.fsck()

    const head = await clone.commit('From simple-git', { 'simple.txt': 'x\n'.repeat(2000) })
    const origin = repository.findRemote('origin')
    await origin.pushAsync(['refs/heads/main:refs/heads/simple'])
    expect(await work.git('ls-remote', world.at(alice, 'app'), 'refs/heads/simple')).toContain(head)
    await origin.fetchAsync(['+refs/heads/*:refs/remotes/origin/*'])
    expect(await clone.resolve('refs/remotes/origin/simple')).toBe(head)
    await origin.pushAsync([':refs/heads/simple'])
    expect(await work.git('ls-remote', world.at(alice, 'app'), 'refs/heads/simple')).toBe('')
  })

  test('fetches by depth', async () => {
    const directory = await world.directory()
    const clone = new WorkingCopy(world.git, directory)
    await clone.git('init', '--quiet')
    await clone.git('remote', 'add', 'origin', world.at(alice, 'app'))
    const origin = Repository.init(directory).findRemote('origin')
    const options = new FetchOptions()
    options.depth(2)
    await origin.fetchAsync(['+refs/heads/main:refs/remotes/origin/main'], options)
    expect(await clone.git('rev-list', '--count', '--first-parent', 'refs/remotes/origin/main')).toBe('2')
    await clone.fsck()
  })
})

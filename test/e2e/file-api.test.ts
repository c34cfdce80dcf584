import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ODD_BRANCHES } from '../git/odd-branches.ts'
import { startWorld } from './harness.ts'
import { basicAuth } from './wire.ts'

const world = await startWorld()
const { alice, bob } = world

async function query(nsid: string, params: Record<string, string>): Promise<Response> {
  return fetch(`${world.edge.url}/xrpc/${nsid}?${new URLSearchParams(params)}`)
}

test('files of branches of every odd name are served and packed', async () => {
  const work = await world.init()
  const head = await work.commit('first', { 'dir/a b.txt': 'content\n' })
  await work.git('push', '--quiet', world.as(alice, 'odd'), ...ODD_BRANCHES.map((name) => `${head}:refs/heads/${name}`))
  const base = world.at(alice, 'odd')
  for (const branch of ODD_BRANCHES) {
    const encoded = encodeURIComponent(branch)
    const raw = await fetch(`${base}/raw/${encoded}/dir/a%20b.txt`)
    expect([branch, raw.status, await raw.text()]).toEqual([branch, 200, 'content\n'])
    const commit = await query('dev.skein.git.getCommit', { repo: 'alice.test/odd', ref: branch })
    expect(await commit.json()).toMatchObject({ commit: { oid: head } })
    const archive = await fetch(`${base}/archive/${encoded}.tar.gz`)
    expect([branch, archive.status]).toEqual([branch, 200])
    const names = execFileSync('tar', ['tzf', '-'], {
      input: Buffer.from(await archive.arrayBuffer()),
      env: { LC_ALL: 'C.UTF-8' },
    })
    expect(`${names}`).toContain('dir/a b.txt')
  }
})

test('the file API shows a push at once, and the same after the edge is wiped', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': '1\n', 'b.txt': '1\n' })
  const address = world.as(alice, 'api')
  await work.git('push', '--quiet', address, 'main')
  const raw = () => fetch(`${world.at(alice, 'api')}/raw/main/a.txt`)
  const first = await raw()
  expect(await first.text()).toBe('1\n')
  const head = await work.commit('second', { 'a.txt': '2\n' })
  await work.git('push', '--quiet', address, 'main')
  const second = await fetch(`${world.at(alice, 'api')}/raw/main/a.txt`, {
    headers: { 'If-None-Match': first.headers.get('ETag')! },
  })
  expect([second.status, await second.text()]).toEqual([200, '2\n'])

  const answers = async () => {
    const repo = 'alice.test/api'
    const texts = [
      query('dev.skein.git.listRefs', { repo }),
      query('dev.skein.git.getTree', { repo, recursive: 'true' }),
      query('dev.skein.git.listCommits', { repo, path: 'b.txt' }),
      query('dev.skein.git.getBlob', { repo, path: 'a.txt' }),
    ].map(async (answer) => (await answer).text())
    return Promise.all(texts)
  }
  const before = await answers()
  expect(before[0]).toContain(head)
  await world.edge.wipe()
  expect(await answers()).toEqual(before)
})

test('a repository is created, listed, pushed to and not created twice', async () => {
  const create = (name: string, authorization: string) =>
    fetch(`${world.edge.url}/xrpc/dev.skein.repo.create`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: authorization },
      body: JSON.stringify({ name, description: 'Made by hand' }),
    })
  const answer = await create('made', basicAuth(bob))
  expect(answer.status).toBe(200)
  const { repository } = (await answer.json()) as { repository: { uri: string } }
  const listed = await query('dev.skein.repo.list', { actor: bob.did })
  expect(await listed.json()).toEqual({
    repositories: [expect.objectContaining({ uri: repository.uri, description: 'Made by hand' })],
  })
  const empty = await query('dev.skein.git.getTree', { repo: repository.uri })
  expect([empty.status, await empty.json()]).toEqual([
    404,
    { error: 'RevisionNotFound', message: expect.stringContaining('main') },
  ])

  const work = await world.init()
  const head = await work.commit('first', { 'a.txt': '1\n' })
  await work.git('push', '--quiet', world.as(bob, 'made'), 'main')
  const got = await query('dev.skein.repo.get', { repo: 'bob.test/made' })
  expect(await got.json()).toMatchObject({ repository: { uri: repository.uri }, head: { target: head } })
  expect((await create('made', basicAuth(bob))).status).toBe(409)
  expect((await create('other', basicAuth({ ...bob, password: 'wrong' }))).status).toBe(401)
})

test('what is not there is 404 in words', async () => {
  for (const path of ['nobody.test/x/raw/main/a', 'alice.test/none/raw/main/a', 'alice.test/none/archive/main.zip']) {
    const response = await fetch(`${world.edge.url}/${path}`)
    expect([path, response.status, await response.text()]).toEqual([path, 404, expect.stringContaining('not found')])
  }
  const unknown = await query('dev.skein.git.listRefs', { repo: 'alice.test/none' })
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { error: 'RepositoryNotFound', message: "repository 'none' not found in the account alice.test" },
  ])
})

import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'

// Whoever opens a clone URL in a browser, or with curl, is told what is there.
const world = await startWorld()
const { alice, bob } = world

async function get(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${world.edge.url}${path}`)
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  return { status: response.status, text: await response.text() }
}

test('home, account and repository say how to clone', async () => {
  const work = await world.init()
  await work.commit('first', { 'README.md': '# app\n' })
  await work.git('push', '--quiet', world.as(alice, 'app'), 'main')
  const command = `git clone ${world.at(alice, 'app')}`
  expect(await get('/')).toMatchObject({ status: 200, text: expect.stringContaining('git clone') })
  expect(await get('/alice.test')).toMatchObject({ status: 200, text: expect.stringContaining(command) })
  expect(await get(`/${alice.did}`)).toMatchObject({ status: 200, text: expect.stringContaining(command) })
  expect(await get('/bob.test')).toMatchObject({
    status: 200,
    text: expect.stringContaining('bob.test has no repositories here yet.'),
  })
  for (const path of ['/alice.test/app', '/alice.test/app.git', `/${encodeURIComponent(alice.did)}/app`]) {
    expect(await get(path)).toMatchObject({ status: 200, text: expect.stringContaining(command) })
  }
  const raw = /A file: (\S+)/.exec((await get('/alice.test/app')).text)![1]!
  expect(await (await fetch(raw)).text()).toBe('# app\n')
})

test('what is not there is said in words', async () => {
  expect(await get('/alice.test/absent')).toEqual({
    status: 404,
    text: "repository 'absent' not found in the account alice.test\n",
  })
  expect((await get('/nobody.test')).status).toBe(404)
  expect((await get('/robots.txt')).text).toContain(`Sitemap: ${world.edge.url}/sitemap.xml`)
  expect((await get('/info/refs?service=git-upload-pack')).text).toMatch(/git clone http/)
  expect((await get(`/${bob.handle}/%E0%A4%A/x`)).status).toBe(404)
  expect((await get('/%E0%A4%A')).status).toBe(400)
  // A link makes this edge say nothing in more than a line.
  expect((await get('/alice.test/x%0A%0A%23%20y')).text.trim()).not.toContain('\n')
})

test('HEAD is answered as GET, by which monitors ask', async () => {
  for (const path of ['/health', '/llms.txt', '/robots.txt', '/.well-known/did.json', '/alice.test']) {
    const [head, whole] = await Promise.all([
      fetch(world.edge.url + path, { method: 'HEAD' }),
      fetch(world.edge.url + path),
    ])
    expect([path, head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      path,
      whole.status,
      whole.headers.get('content-type'),
      '',
    ])
  }
  expect((await fetch(`${world.edge.url}/health`, { method: 'POST' })).status).toBe(405)
})

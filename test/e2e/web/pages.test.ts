import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createDemoRepository } from '../../../dev/demo-repository.ts'
import { HOSTILE } from '../../workers/web/render/hostile-inputs.ts'
import { startWorld } from '../harness.ts'
import { settled } from '../indexer/settled.ts'
import { WorkingCopy } from '../working-copy.ts'
import { accessibilityFaults, saveScreenshot, screenshot, startBrowser, visit } from './browser.ts'

// What people see: the pages in a real browser, with scripts and without, on a small repository and a hostile one.
const world = await startWorld({ isFollowing: true })
const { alice, edge } = world
const browser = await startBrowser()
const BASE = '/alice.test/demo'

const demo = new WorkingCopy(world.git, await world.directory())
await createDemoRepository(world.git, demo.directory)
await demo.commit('Draw it', {
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'data.bin': 'a\0b',
  empty: '',
})
await symlink('README.md', join(demo.directory, 'link'))
const head = await demo.commit('Link to it')
await demo.git('push', '--quiet', world.as(alice, 'demo'), '--all')
await demo.git('push', '--quiet', world.as(alice, 'demo'), '--tags')
const PNG_POINT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** The same, its checksum wrong. */
const BROKEN_PNG = `${PNG_POINT.slice(0, 76)}AAAA${PNG_POINT.slice(80)}`
const upload = async ({ accessJwt }: typeof alice, base64: string) => {
  const answer = await fetch(`${world.atmosphere.pdsUrl}/xrpc/com.atproto.repo.uploadBlob`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessJwt}`, 'content-type': 'image/png' },
    body: Buffer.from(base64, 'base64'),
  })
  return ((await answer.json()) as { blob: { ref: { $link: string } } }).blob
}
const blob = await upload(alice, PNG_POINT)
await world.createRecord(world.bob, 'app.bsky.actor.profile', 'self', {
  displayName: 'Bob',
  avatar: await upload(world.bob, BROKEN_PNG),
})
await world.createRecord(alice, 'app.bsky.actor.profile', 'self', {
  displayName: '<b>Alice</b>',
  description: 'Spins.\n"><img src=x onerror=alert(1)> https://alice.example/',
  avatar: blob,
})
await settled(edge)

/** Every kind of page there is. */
const PAGES: Readonly<Record<string, string>> = {
  home: '/',
  'sign-in': '/sign-in',
  search: '/search?q=demo',
  account: '/alice.test',
  repository: BASE,
  tree: `${BASE}/tree/main/src`,
  file: `${BASE}/blob/main/src/threads.js`,
  document: `${BASE}/blob/main/README.md`,
  image: `${BASE}/blob/main/picture.svg`,
  binary: `${BASE}/blob/main/data.bin`,
  blame: `${BASE}/blame/main/README.md`,
  commits: `${BASE}/commits/main`,
  'path-commits': `${BASE}/commits/main/src/threads.js`,
  commit: `${BASE}/commit/${head}`,
  compare: `${BASE}/compare/main...feature/colours`,
  split: `${BASE}/compare/main...feature/colours?view=split`,
  branches: `${BASE}/branches`,
  tags: `${BASE}/tags`,
  releases: `${BASE}/releases`,
}

async function walk(page: Page): Promise<void> {
  await page.goto('/')
  await page.getByRole('searchbox').fill('demo')
  await page.getByRole('searchbox').press('Enter')
  await page.getByRole('main').getByRole('link', { name: 'alice.test / demo' }).click()
  await expect.poll(() => page.title()).toContain('alice.test/demo')
  await page.getByRole('cell', { name: 'src' }).getByRole('link').click()
  await page.getByRole('cell', { name: 'threads.js' }).getByRole('link').click()
  await page.getByRole('link', { name: '2', exact: true }).click()
  expect(new URL(page.url()).hash).toBe('#L2')
  await page.getByRole('link', { name: 'Blame' }).click()
  await page.getByRole('link', { name: 'Count threads' }).first().click()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Count threads')
  await page.getByRole('link', { name: 'Commits' }).first().click()
  await page.getByRole('link', { name: 'Merge branch knots' }).click()
  await page.getByRole('link', { name: 'Branches' }).first().click()
  await page.getByRole('link', { name: 'Compare feature/colours' }).click()
  expect(await page.getByRole('main').textContent()).toContain('1 commit ahead')
  expect(await page.locator('tr.add').count()).toBeGreaterThan(0)
}

test.each([true, false])(
  'one walks from the front page to a comparison; with scripts: %s',
  async (javaScriptEnabled) => {
    await using visited = await visit(browser, edge.url, { javaScriptEnabled })
    await walk(visited.page)
    expect(visited.faults).toEqual([])
  },
)

test.each(['light', 'dark'] as const)('every page is whole, and accessible, in %s', async (colorScheme) => {
  await using visited = await visit(browser, edge.url, { colorScheme, viewport: { width: 1024, height: 900 } })
  const { page, faults } = visited
  const inaccessible: string[] = []
  for (const [name, path] of Object.entries(PAGES)) {
    expect([name, (await page.goto(path))?.status()]).toEqual([name, 200])
    for (const fault of await accessibilityFaults(page)) inaccessible.push(`${name}: ${fault}`)
    await screenshot(page, `${name}-1024-${colorScheme}`)
  }
  expect({ inaccessible, faults }).toEqual({ inaccessible: [], faults: [] })
})

test.each([390, 1600])('nothing is wider than a screen of %i', async (width) => {
  const options: BrowserContextOptions = { viewport: { width, height: 844 } }
  await using visited = await visit(browser, edge.url, options)
  for (const [name, path] of Object.entries(PAGES)) {
    await visited.page.goto(path)
    const excess = await visited.page.evaluate(() => {
      const { document, innerWidth } = globalThis as unknown as BrowserGlobals
      return document.documentElement.scrollWidth - innerWidth
    })
    expect([name, Math.max(excess, 0)]).toEqual([name, 0])
    for (const colorScheme of ['light', 'dark'] as const) {
      await visited.page.emulateMedia({ colorScheme })
      await screenshot(visited.page, `${name}-${width}-${colorScheme}`)
    }
  }
})

interface BrowserGlobals {
  readonly document: { readonly documentElement: { readonly scrollWidth: number } }
  readonly innerWidth: number
}

test('scripts add a theme, ranges of lines and copying', async () => {
  await using visited = await visit(browser, edge.url, { colorScheme: 'light' })
  const { page, faults } = visited
  await page.goto(`${BASE}/blob/main/src/threads.js`)
  await page.getByRole('button', { name: 'Change between light and dark' }).click()
  await page.reload()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  await page.getByRole('link', { name: '1', exact: true }).click()
  await page.getByRole('link', { name: '3', exact: true }).click({ modifiers: ['Shift'] })
  expect(new URL(page.url()).hash).toBe('#L1-L3')
  expect(await page.locator('tr.chosen').count()).toBe(3)
  expect(faults).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'the palette finds files, branches and repositories by a few letters, in %s',
  async (colorScheme) => {
    await using visited = await visit(browser, edge.url, {
      colorScheme,
      viewport: { width: colorScheme === 'dark' ? 390 : 1024, height: 844 },
    })
    const { page, faults } = visited
    await page.goto(`${BASE}/tree/feature/colours`)
    await page.keyboard.press('/')
    const field = page.getByRole('combobox', { name: 'Find' })
    await field.fill('thrjs')
    await page.getByRole('option', { name: 'src/threads.js' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await screenshot(page, `palette-${colorScheme}`)
    await field.press('Enter')
    await page.waitForURL(`${edge.url}${BASE}/blob/feature/colours/src/threads.js`)
    await page.keyboard.press('Control+k')
    await field.fill('demo')
    await page.getByRole('option', { name: 'alice.test/demo' }).waitFor()
    await field.fill('colours')
    await page.getByRole('option', { name: 'Branch feature/colours' }).waitFor()
    await field.press('ArrowDown')
    await field.press('ArrowUp')
    expect(await page.locator('[aria-selected=true]').count()).toBe(1)
    await page.keyboard.press('Escape')
    expect(await field.isVisible()).toBe(false)
    await page.goto('/')
    await page.keyboard.press('/')
    await field.fill('zzzzz')
    await page.getByText('Nothing has these letters.').waitFor()
    await field.fill('demo')
    await field.press('Shift+Enter')
    await page.waitForURL(`${edge.url}/search?q=demo`)
    // What was asked for when the page was left is broken off.
    expect(faults.filter((fault) => !/^failed: .*\/-\/find/.test(fault))).toEqual([])
  },
)

test('nothing that a repository holds runs, or leaves its place', async () => {
  const work = await world.init()
  const evil = '"><img src=x onerror=alert(1)>'
  const name = `${evil.replaceAll('/', '')}.md`
  const document = `# ${evil}\n\n<script>alert(2)</script> [a](javascript:alert(3)) ![b](https://elsewhere.test/x.png)\n\n</main><h1 id="main">`
  await mkdir(join(work.directory, 'd'), { recursive: true })
  await writeFile(join(work.directory, 'd', name), document)
  // Every way into a page that is known, each alone and all of a kind in a row, with whatever they leave open.
  const corpus = Object.entries(HOSTILE).flatMap(([kind, texts]) => [
    [`corpus/${kind}.md`, texts.join('\n\n---\n\n')] as const,
    [`corpus/${kind}-open.md`, texts.join('\n')] as const,
  ])
  const all = Object.values(HOSTILE).flat().join('\n').replaceAll('\0', '')
  await work.git('config', 'user.name', evil.replace(/[<>]/g, ''))
  await work.commit(`${evil}\n\n<script>alert(4)</script>\n${all}`, {
    ...Object.fromEntries(corpus),
    'README.md': document,
    'x.svg': '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(5)"><script>alert(6)</script></svg>',
    'x.html': '<script>alert(7)</script>',
  })
  const branch = 'a"><script>alert`8`</script>'
  await work.git('push', '--quiet', world.as(alice, 'evil'), 'main', `main:refs/heads/${branch.replaceAll('~', '')}`)
  const oid = await work.resolve('main')
  const base = '/alice.test/evil'
  const record = {
    name: 'evil-record',
    description: `${evil} ${all}`.slice(0, 500),
    topics: [evil, '<svg/onload=alert(9)>'],
    website: 'https://x.test/"onmouseover="alert(1)',
  }
  await world.createRecord(alice, 'dev.skein.repo', '3lzyxwvutsr2z', {
    ...record,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt: '2026-01-01T00:00:00Z',
  })
  await settled(edge)
  await using visited = await visit(browser, edge.url)
  const { page, faults } = visited
  const places = [
    '',
    '/branches',
    `/commit/${oid}`,
    '/commits/main',
    '/tree/main/d',
    `/blob/main/d/${encodeURIComponent(name)}`,
    `/blame/main/README.md`,
    '/compare/main...main',
    '/tree/main/corpus',
    ...corpus.flatMap(([path]) => [`/blob/main/${path}`, `/blob/main/${path}?view=source`]),
  ]
  for (const place of [...places, '/blob/main/x.svg', '/blob/main/x.html', '/raw/main/x.html', '/raw/main/x.svg']) {
    await page.goto(base + place)
    expect([place, (await page.locator('main').count()) > 1]).toEqual([place, false])
  }
  for (const path of [
    `/search?q=${encodeURIComponent(evil)}`,
    `/search?topic=${encodeURIComponent(evil)}`,
    '/alice.test',
    '/alice.test/evil-record',
    `/${encodeURIComponent(evil)}`,
    '/search?q=evil',
  ])
    await page.goto(path)
  await page.goto(`${base}/tree/${encodeURIComponent(branch)}`)
  expect(faults.filter((fault) => !/sandboxed|404/.test(fault))).toEqual([])
})

test('curl gets text, a browser pages; what is not there is said in both', async () => {
  const get = (path: string, accept: string, headers = {}) =>
    fetch(edge.url + path, { headers: { accept, ...headers }, redirect: 'manual' })
  for (const path of ['/', '/alice.test', BASE]) {
    const [text, page] = await Promise.all([get(path, '*/*'), get(path, 'text/html')])
    expect([path, text.headers.get('content-type')]).toEqual([path, 'text/plain; charset=utf-8'])
    expect([path, page.headers.get('content-type')]).toEqual([path, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect([text.headers.get('vary'), page.headers.get('vary')]).toEqual(['Accept', 'Accept'])
  }
  for (const path of ['/alice.test/absent', `${BASE}/blob/main/absent`, `${BASE}/commit/0000000`, '/nobody.test']) {
    const absent = await get(path, 'text/html')
    expect([path, absent.status, await absent.text()]).toEqual([path, 404, expect.stringContaining('Not found')])
  }
  expect((await get(`${BASE}/blob/main/src`, 'text/html')).headers.get('location')).toBe(`${BASE}/tree/main/src`)
  expect((await get(`${BASE}/commit/main`, 'text/html')).headers.get('location')).toBe(`${BASE}/commit/${head}`)
  expect((await fetch(edge.url + BASE, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(405)
})

type Xml = { readonly root: string } & Readonly<Record<'titles' | 'ids' | 'places' | 'updated', string[]>>

test('an account is who its profile says, with a picture from this edge and no other', async () => {
  await using visited = await visit(browser, edge.url, {})
  await visited.page.goto('/alice.test')
  expect(await visited.page.getByRole('heading', { level: 1 }).textContent()).toBe('<b>Alice</b>')
  expect(await visited.page.locator('.bio').textContent()).toBe(
    'Spins.\n"><img src=x onerror=alert(1)> https://alice.example/',
  )
  const picture = visited.page.locator('img.avatar')
  expect(await picture.getAttribute('src')).toBe(`/-/avatar/${alice.did}/${blob.ref.$link}`)
  expect(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(1)
  expect(visited.faults).toEqual([])
  expect((await fetch(`${edge.url}/-/avatar/${alice.did}/${'b'.padEnd(59, 'a')}`)).status).toBe(404)
})

test('what is shared has a picture, drawn once', async () => {
  const pictureOf = async (path: string) => {
    const html = await (await fetch(edge.url + path, { headers: { accept: 'text/html' } })).text()
    return /<meta property="og:image" content="([^"]+)">/.exec(html)![1]!
  }
  for (const path of ['/alice.test', '/bob.test', BASE, `${BASE}/commit/${head}`]) {
    // What it says of a repository is gathered after the first answer.
    const caching = async () => (await fetch(await pictureOf(path))).headers.get('cache-control')
    await expect.poll(caching, { timeout: 10_000 }).toContain('immutable')
    const url = await pictureOf(path)
    const drawn = await fetch(url)
    expect([path, drawn.status, drawn.headers.get('content-type')]).toEqual([path, 200, 'image/png'])
    const png = Buffer.from(await drawn.arrayBuffer())
    expect([png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', 1200, 630])
    await saveScreenshot(png, `card-${path.replaceAll('/', '-')}`)
    const again = await fetch(url)
    expect(Buffer.from(await again.arrayBuffer()).equals(png)).toBe(true)
    const etag = drawn.headers.get('etag')!
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const old = await fetch(url.replace(/card\/[^/]+/, 'card/older'))
    expect([old.status, old.headers.get('cache-control')]).toEqual([200, 'no-cache'])
  }
  expect((await fetch(`${edge.url}/-/card/x${BASE}/commit/${'0'.repeat(40)}/card.png`)).status).toBe(404)
  expect((await fetch(`${edge.url}/-/card/x/alice.test/absent/card.png`)).status).toBe(404)
})

test('programs find feeds, a sitemap, and where a Go package is', async () => {
  const get = async (path: string, accept = '*/*') => (await fetch(edge.url + path, { headers: { accept } })).text()
  await using visited = await visit(browser, edge.url, {})
  const parse = async (path: string) => {
    const xml = await get(path)
    return visited.page.evaluate<Xml>(`(() => {
      const root = new DOMParser().parseFromString(${JSON.stringify(xml)}, 'application/xml').documentElement
      const texts = (name) => [...root.getElementsByTagName(name)].map((element) => element.textContent)
      return { root: root.localName, titles: texts('title'), ids: texts('id'), places: texts('loc'), updated: texts('updated') }
    })()`)
  }
  const commits = await parse(`${BASE}/commits.atom`)
  expect(commits).toMatchObject({
    root: 'feed',
    titles: [
      'Commits on main of alice.test/demo',
      'Link to it',
      'Draw it',
      ...Array(commits.titles.length - 3).fill(expect.any(String)),
    ],
  })
  expect(commits.ids[1]).toMatch(new RegExp(`^${alice.did}/dev.skein.repo/[2-7a-z]+#${head}$`))
  expect(commits.updated.every((time) => !Number.isNaN(Date.parse(time)))).toBe(true)
  expect((await parse(`${BASE}/commits.atom?rev=feature/colours`)).titles[0]).toBe(
    'Commits on feature/colours of alice.test/demo',
  )
  expect((await parse(`${BASE}/tags.atom`)).root).toBe('feed')
  expect((await parse('/-/feed/alice.test')).titles).toContain('demo: main moved')
  const parts = (await parse('/sitemap.xml')).places.map((place) => new URL(place).pathname)
  const places = await Promise.all(parts.map(async (part) => (await parse(part)).places))
  expect(places.flat()).toEqual(expect.arrayContaining([`${edge.url}/alice.test`, `${edge.url}${BASE}`]))
  const host = new URL(edge.url).host
  // Go takes anything; its packages may be called as pages are.
  for (const path of ['', '/sub/package', '/tree/main', '/branches', '/raw/main', '/archive/x']) {
    expect(await get(`${BASE}${path}?go-get=1`)).toContain(
      `<meta name="go-import" content="${host}${BASE} git ${edge.url}${BASE}">`,
    )
  }
  expect(JSON.parse(await get(`${BASE}/commit/${head}`, 'application/json'))).toMatchObject({
    commit: { oid: head, subject: 'Link to it' },
  })
  expect(await get(`${BASE}/blob/main/README.md`, 'text/markdown')).toContain('```')
})

test('a page is kept until something changes, and one of a commit forever', async () => {
  const get = (path: string, headers = {}) => fetch(edge.url + path, { headers: { accept: 'text/html', ...headers } })
  const again = async (path: string, etag: string) => (await get(path, { 'if-none-match': etag })).status
  const byCommit = await get(`${BASE}/commit/${head}`)
  expect(byCommit.headers.get('cache-control')).toContain('immutable')
  const byBranch = await get(`${BASE}/tree/main`)
  expect(byBranch.headers.get('cache-control')).toBe('no-cache')
  const etag = byBranch.headers.get('etag')!
  expect(await again(`${BASE}/tree/main`, etag)).toBe(304)
  await demo.commit('Go on', { 'new.txt': 'new\n' })
  await demo.git('push', '--quiet', world.as(alice, 'demo'), 'main')
  expect(await again(`${BASE}/tree/main`, etag)).toBe(200)
  expect(await (await get(BASE)).text()).toContain('Go on')
  expect(await again(`${BASE}/commit/${head}`, byCommit.headers.get('etag')!)).toBe(304)
  const style = /\/-\/assets\/[\w-]+\/style\.css/.exec(await (await get('/')).text())![0]
  expect((await get(style)).headers.get('cache-control')).toContain('immutable')
  const tags: string[] = []
  for (const accept of ['text/html', 'application/json', 'text/markdown']) {
    const form = await get(BASE, { accept })
    tags.push(form.headers.get('etag')!)
    const same = await get(BASE, { accept, 'if-none-match': tags.at(-1)! })
    expect([accept, same.status, same.headers.get('vary')]).toEqual([accept, 304, 'Accept'])
    const head = await fetch(edge.url + BASE, { method: 'HEAD', headers: { accept } })
    expect([head.headers.get('etag'), head.headers.get('content-type'), await head.text()]).toEqual([
      tags.at(-1),
      form.headers.get('content-type'),
      '',
    ])
  }
  expect(new Set(tags).size).toBe(3)
  expect((await get('/-/assets/old/style.css')).headers.get('cache-control')).toBe('public, max-age=60')
})

test('what a page has cost is logged: one that is asked again calls the mirror once, and nothing else', async () => {
  const ask = async () => (await fetch(edge.url + BASE, { headers: { Accept: 'text/html' } })).arrayBuffer()
  await ask()
  const from = edge.logs.length
  await ask()
  const logged = () => edge.logs.slice(from).find(({ message }) => message.includes('"event":"page-answered"'))?.message
  await expect.poll(logged).toBeDefined()
  expect(JSON.parse(logged()!)).toMatchObject({ path: BASE, status: 200, queries: 0, calls: 1, r2Reads: 0 })
})

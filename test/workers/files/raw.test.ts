import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filesRouter } from '../../../workers/files/router.ts'
import type { RepositoryDeps } from '../../../workers/repository-access.ts'
import { ScratchRepository } from '../../git/git.ts'
import { ODD_BRANCHES } from '../../git/odd-branches.ts'
import { GitRepositoryView } from '../../storage/git-repository-view.ts'

const repository = new ScratchRepository({ bare: true })
const files: Record<string, readonly [mode: string, content: string | Buffer]> = {
  'README.md': ['100644', '# Hello\n'],
  'run.sh': ['100755', '#!/bin/sh\n'],
  'a b/ünïcode #1%.txt': ['100644', 'odd\n'],
  link: ['120000', 'README.md'],
  'page.html': ['100644', '<script>alert(1)</script>'],
  'drawing.svg': ['100644', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  'picture.PNG': ['100644', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])],
  'data.bin': ['100644', Buffer.from([1, 2, 0, 3])],
  empty: ['100644', ''],
  'long.txt': ['100644', Buffer.from(Array.from({ length: 30_000 }, (_, i) => 32 + (i % 90)))],
}
const SUBMODULE = '1'.repeat(40)
let view: GitRepositoryView
let head: string

beforeAll(() => {
  const lines = Object.entries(files).map(
    ([path, [mode, content]]) => `${mode} ${repository.store('blob', content)}\t${path}\0`,
  )
  const latin1 = Buffer.from(`100644 ${repository.store('blob', 'latin-1\n')}\tcaf\xe9.txt\0`, 'latin1')
  const gitlink = `160000 ${SUBMODULE}\tmodule\0`
  repository.git(['update-index', '-z', '--index-info'], Buffer.concat([Buffer.from(lines.join('') + gitlink), latin1]))
  const tree = repository.text(['write-tree'])
  head = repository.text(['commit-tree', tree, '-m', 'first'])
  for (const branch of ['main', ...ODD_BRANCHES]) repository.git(['update-ref', `refs/heads/${branch}`, head])
  repository.git(['tag', '-a', '-m', 'tag', 'v1', head])
  // A tag whose name is the start of a branch's: only the longest match finds the branch.
  const other = repository.text(['commit-tree', repository.store('tree', ''), '-m', 'other'])
  repository.git(['update-ref', 'refs/tags/feature', other])
  view = new GitRepositoryView(repository)
})
afterAll(async () => {
  await view[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

const deps: RepositoryDeps = {
  open: async (reference) =>
    'name' in reference && reference.actor === 'alice.test' && reference.name === 'app' ? view : null,
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  const response = await filesRouter.fetch(new Request(`https://edge.test${path}`, init), deps)
  return response!
}

const raw = (path: string, init?: RequestInit) => ask(`/alice.test/app/raw/${path}`, init)

describe('raw files', () => {
  it.each(Object.keys(files))('gives the bytes of %s', async (path) => {
    const response = await raw(`main/${path.split('/').map(encodeURIComponent).join('/')}`)
    expect(response.status).toBe(200)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(files[path]![1] as string))
  })

  it('gives a file whose name is no UTF-8', async () => {
    expect(await (await raw('main/caf%E9.txt')).text()).toBe('latin-1\n')
  })

  it.each([
    'main',
    'HEAD',
    'feature/1',
    'feature%2F1',
    'heads/main',
    'refs/heads/feature/1',
    'v1',
    'refs/tags/v1',
    ...ODD_BRANCHES.map(encodeURIComponent),
    'a/b/c',
    'ünïcode',
    '日本語',
    'a+b',
    'a&b',
    "quo'te",
    'x@y',
  ])('finds the revision %s', async (revision) => {
    const response = await raw(`${revision}/README.md`)
    expect([response.status, await response.text()]).toEqual([200, '# Hello\n'])
    expect(response.headers.get('Cache-Control')).toBe('no-cache')
  })

  it('takes an abbreviated id, and answers a full one for good', async () => {
    const short = await raw(`${head.slice(0, 8)}/README.md`)
    expect([short.status, short.headers.get('Cache-Control')]).toEqual([200, 'no-cache'])
    const full = await raw(`${head}/README.md`)
    expect(full.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
  })

  it.each([
    ['README.md', 'text/plain; charset=utf-8', 'inline; filename="README.md"'],
    ['page.html', 'text/plain; charset=utf-8', 'inline; filename="page.html"'],
    ['link', 'text/plain; charset=utf-8', 'inline; filename="link"'],
    ['drawing.svg', 'image/svg+xml', 'inline; filename="drawing.svg"'],
    ['picture.PNG', 'image/png', 'inline; filename="picture.PNG"'],
    ['data.bin', 'application/octet-stream', 'attachment; filename="data.bin"'],
    [
      'a%20b/%C3%BCn%C3%AFcode%20%231%25.txt',
      'text/plain; charset=utf-8',
      `inline; filename="_n_code _1_.txt"; filename*=UTF-8''%C3%BCn%C3%AFcode%20%231%25.txt`,
    ],
  ])('serves %s so that nothing in it runs', async (path, type, disposition) => {
    const { headers } = await raw(`main/${path}`)
    expect(headers.get('Content-Type')).toBe(type)
    expect(headers.get('Content-Disposition')).toBe(disposition)
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Content-Security-Policy')).toMatch(/default-src 'none';.*sandbox/)
  })

  it.each([
    ['main/absent', 404, 'no such file'],
    ['main/README.md/x', 404, 'no such file'],
    ['main', 404, 'directory'],
    ['main/a%20b', 404, 'directory'],
    ['main/module', 404, 'submodule'],
    ['main/module/x', 404, 'no such file'],
    ['nothing/README.md', 404, 'no branch, tag or object'],
    [`${'0'.repeat(39)}1/README.md`, 404, 'no branch, tag or object'],
    ['main/%zz', 400, '%'],
    ['main/100%', 400, '%'],
  ])('answers %s with %i', async (path, status, words) => {
    const response = await raw(path)
    expect(response.status).toBe(status)
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toContain(words)
  })

  it('knows no other repository, method or URL', async () => {
    expect((await ask('/alice.test/other/raw/main/README.md')).status).toBe(404)
    expect((await ask('/%zz/app/raw/main/README.md')).status).toBe(400)
    const posted = await raw('main/README.md', { method: 'POST', body: 'x' })
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect(await ask('/alice.test/app/info/refs')).toBeUndefined()
  })

  it('says nothing of the inside when it fails', async () => {
    const failing: RepositoryDeps = { open: () => Promise.reject(new Error('secret')) }
    const response = (await filesRouter.fetch(new Request('https://edge.test/a/b/raw/main/x'), failing))!
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
  })

  it('answers HEAD as GET without the body', async () => {
    const [got, head] = [await raw('main/long.txt'), await raw('main/long.txt', { method: 'HEAD' })]
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
    expect([...head.headers]).toEqual([...got.headers])
    expect(head.headers.get('Content-Length')).toBe('30000')
  })

  it('answers 304 where the client has it', async () => {
    const etag = (await raw('main/README.md')).headers.get('ETag')!
    for (const ifNoneMatch of [etag, `"x", W/${etag}`, '*']) {
      const response = await raw('main/README.md', { headers: { 'If-None-Match': ifNoneMatch } })
      expect([response.status, response.headers.get('ETag'), await response.text()]).toEqual([304, etag, ''])
    }
    expect((await raw('main/README.md', { headers: { 'If-None-Match': '"x"' } })).status).toBe(200)
  })

  const long = files['long.txt']![1] as Buffer
  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=8190-8199', 8190, 8200],
    ['bytes=29990-', 29990, 30000],
    ['bytes=29990-99999', 29990, 30000],
    ['bytes=-5', 29995, 30000],
    ['bytes=-99999', 0, 30000],
  ])('answers the range %s', async (range, start, end) => {
    const response = await raw('main/long.txt', { headers: { Range: range } })
    expect(response.status).toBe(206)
    expect(response.headers.get('Content-Range')).toBe(`bytes ${start}-${end - 1}/30000`)
    expect(response.headers.get('Content-Length')).toBe(`${end - start}`)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(long.subarray(start, end))
  })

  it.each(['bytes=30000-', 'bytes=-0'])('answers the range %s with 416', async (range) => {
    const response = await raw('main/long.txt', { headers: { Range: range } })
    expect([response.status, response.headers.get('Content-Range')]).toEqual([416, 'bytes */30000'])
  })

  it.each(['bytes=5-1', 'lines=1-2', 'bytes=', 'bytes=-', 'bytes=0-1,5-6'])('ignores the range %s', async (range) => {
    expect((await raw('main/long.txt', { headers: { Range: range } })).status).toBe(200)
  })

  it('ignores a range of content that has changed since', async () => {
    const headers = { Range: 'bytes=0-1', 'If-Range': '"old"' }
    expect((await raw('main/long.txt', { headers })).status).toBe(200)
    const etag = (await raw('main/long.txt')).headers.get('ETag')!
    expect((await raw('main/long.txt', { headers: { ...headers, 'If-Range': etag } })).status).toBe(206)
  })

  it('says which branch is missing where HEAD names none', async () => {
    const unborn = new GitRepositoryView(repository, { defaultBranch: 'trunk' })
    const response = (await filesRouter.fetch(new Request('https://edge.test/a/b/raw/HEAD/x'), {
      open: async () => unborn,
    }))!
    expect([response.status, await response.text()]).toEqual([404, 'the default branch, trunk, does not exist yet\n'])
    await unborn[Symbol.asyncDispose]()
  })
})

import { unpackTar } from 'modern-tar'
import { describe, expect, it } from 'vitest'
import { filesRouter } from '../../../workers/files/router.ts'
import type { XrpcDeps } from '../../../workers/xrpc/deps.ts'
import { xrpcRouter } from '../../../workers/xrpc/router.ts'
import { MemoryRepository } from '../../storage/memory-repository.ts'
import { NO_GATEWAY } from '../gateway/memory-gateway.ts'
import { NO_TOKENS } from '../xrpc/memory-tokens.ts'
import { NO_INDEX } from '../xrpc/no-index.ts'

// What depends on the platform: streams with a length, compression, zip and tar writers, the lexicon validator.

const repository = new MemoryRepository()
const LARGE = Uint8Array.from({ length: 1_000_000 }, (_, i) => (i * 31 + (i >> 7)) & 0xff)
const head = repository.commit(
  repository.tree([
    ['100644', 'README.md', repository.blob('# Hello\n')],
    ['40000', 'bin', repository.tree([['100755', 'run', repository.blob('#!/bin/sh\n')]])],
    ['100644', 'large', repository.blob(LARGE)],
    ['120000', 'link', repository.blob('README.md')],
  ]),
  1_700_000_000,
)
const view = repository.view([{ name: 'refs/heads/main', target: head, peeled: null }])
const deps: XrpcDeps = {
  ...NO_INDEX,
  ...NO_TOKENS,
  gateway: NO_GATEWAY,
  open: async () => view,
  find: async () => null,
  list: async () => null,
  create: () => Promise.reject(new Error('not in this test')),
}

const get = async (path: string, init?: RequestInit) =>
  (await filesRouter.fetch(new Request(`https://edge.test/alice.test/app/${path}`, init), deps))!

describe('files in workerd', () => {
  it('have their length and their ranges', async () => {
    const whole = await get('raw/main/large')
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(LARGE)
    const part = await get('raw/main/large', { headers: { Range: 'bytes=500000-500999' } })
    expect([part.status, part.headers.get('Content-Length')]).toEqual([206, '1000'])
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(LARGE.subarray(500_000, 501_000))
    const none = await get('raw/main/large', { headers: { Range: 'bytes=1000000-' } })
    expect(none.status).toBe(416)
    await none.body?.cancel()
    expect((await get('raw/main/large', { method: 'HEAD' })).headers.get('Content-Length')).toBe('1000000')
  })

  it('are packed as a tar', async () => {
    const response = await get('archive/main.tar.gz')
    const tar = response.body!.pipeThrough(
      new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>,
    )
    const entries = await unpackTar(tar)
    expect(entries.map(({ header }) => [header.name, header.type, header.mode])).toEqual([
      ['app-main/', 'directory', 0o775],
      ['app-main/README.md', 'file', 0o664],
      ['app-main/bin/', 'directory', 0o775],
      ['app-main/bin/run', 'file', 0o775],
      ['app-main/large', 'file', 0o664],
      ['app-main/link', 'symlink', 0o777],
    ])
    expect(entries[4]!.data).toEqual(LARGE)
  })

  it('are packed as a zip', async () => {
    const bytes = new Uint8Array(await (await get('archive/main.zip')).arrayBuffer())
    const text = new TextDecoder('latin1').decode(bytes)
    expect(text.startsWith('PK\x03\x04')).toBe(true)
    expect(text.endsWith(head)).toBe(true)
    expect(bytes.length).toBeLessThan(LARGE.length)
  })

  it('are listed by XRPC, and wrong parameters refused', async () => {
    const ask = (query: string) =>
      xrpcRouter.fetch(new Request(`https://edge.test/xrpc/dev.skein.git.getTree?${query}`), deps)
    const listed = (await (await ask('repo=alice.test/app&recursive=true'))!.json()) as { entries: { path: string }[] }
    expect(listed.entries.map(({ path }) => path)).toEqual(['README.md', 'bin', 'bin/run', 'large', 'link'])
    const refused = (await ask('repo=alice.test/app&limit=x'))!
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([400, 'InvalidRequest'])
  })
})

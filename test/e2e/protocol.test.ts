import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { writeHistory } from './history.ts'
import { basicAuth, FLUSH, pktLine, readPktLines, readReport, receivePackRequest } from './wire.ts'

const world = await startWorld()
const { alice } = world

const work = await world.init()
await writeHistory(work, { commits: 80, seed: 5 })
await work.git('push', '--quiet', '--mirror', world.as(alice, 'app'))
// For tests that push: the others may count on what the first one holds.
await work.git('push', '--quiet', world.as(alice, 'scratch'), 'main')
const address = world.at(alice, 'app')
const scratch = world.at(alice, 'scratch')
const main = await work.resolve('main')

const discover = (service: string, headers: Record<string, string> = {}) =>
  fetch(`${address}/info/refs?service=${service}`, { headers })
const lines = async (response: Response) =>
  readPktLines(new Uint8Array(await response.arrayBuffer())).map((line) => line?.toString() ?? null)

describe.each(['0', '1', '2'])('over protocol v%s', (version) => {
  const protocol = ['-c', `protocol.version=${version}`]

  test('a mirror clone has the same refs and the same objects', async () => {
    const clone = await world.init()
    await clone.git(
      ...protocol,
      '-c',
      'transfer.fsckObjects=true',
      'fetch',
      '--quiet',
      address,
      '+refs/*:refs/*',
      '--update-head-ok',
    )
    expect(await clone.refs()).toEqual(await work.refs())
    expect(await clone.objectIds()).toEqual(await work.objectIds())
    await clone.fsck()
  })

  test('a fetch negotiates: commits on both sides that the other lacks', async () => {
    const clone = await world.clone('--single-branch', '--branch', 'main', scratch)
    for (let n = 0; n < 40; n++) await clone.commit(`local ${n}`, { [`local/${n}.txt`]: `${n}\n` })
    const pusher = await world.clone(world.as(alice, 'scratch'))
    await pusher.commit(`remote, v${version}`, { [`remote-${version}.txt`]: 'r\n' })
    await pusher.git('push', '--quiet', 'origin', `HEAD:refs/heads/negotiated-${version}`)
    const before = await clone.objectCount()
    await clone.git(...protocol, 'fetch', '--quiet', 'origin', `negotiated-${version}`)
    expect((await clone.objectCount()) - before).toBe(3)
    expect(await clone.resolve('FETCH_HEAD')).toBe(await pusher.resolve('HEAD'))
    await clone.fsck()
  })

  test.each(['skipping', 'noop', 'consecutive'])('negotiation by the %s algorithm', async (algorithm) => {
    const clone = await world.clone('--single-branch', '--branch', 'side-35', address)
    await clone.commit('local', { 'local.txt': 'l\n' })
    await clone.git(...protocol, '-c', `fetch.negotiationAlgorithm=${algorithm}`, 'fetch', '--quiet', 'origin', 'main')
    expect(await clone.resolve('FETCH_HEAD')).toBe(main)
    await clone.fsck()
  })

  test('an unknown id is "not our ref"', async () => {
    const clone = await world.init()
    const refused = await clone.try(...protocol, 'fetch', address, 'c0ffee'.padEnd(40, '0'))
    expect(refused.status).toBe(128)
    expect(refused.stderr).toMatch(/not our ref/)
  })

  test('an id that is no tip may be fetched', async () => {
    const clone = await world.init()
    const inner = await work.resolve('main~10')
    await clone.git(...protocol, 'fetch', '--quiet', address, inner)
    expect(await clone.resolve('FETCH_HEAD')).toBe(inner)
    await clone.fsck()
  })
})

describe('discovery', () => {
  test('v0 names its service, HEAD, its symref, and peels tags', async () => {
    const response = await discover('git-upload-pack')
    expect(response.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement')
    expect(response.headers.get('cache-control')).toMatch(/no-cache/)
    const [service, flush, first, ...rest] = await lines(response)
    expect(service).toBe('# service=git-upload-pack\n')
    expect(flush).toBeNull()
    expect(first).toMatch(new RegExp(`^${main} HEAD\0.*symref=HEAD:refs/heads/main`))
    expect(rest).toContain(`${main} refs/tags/outer^{}\n`)
    expect(rest.at(-1)).toBeNull()
  })

  test('v1 adds its version line', async () => {
    const all = await lines(await discover('git-upload-pack', { 'git-protocol': 'version=1' }))
    expect(all.slice(0, 3)).toEqual(['# service=git-upload-pack\n', null, 'version 1\n'])
  })

  test.each(['version=2', 'version=2:future=1', 'agent=x:version=2'])(
    '%s lists capabilities and no refs',
    async (protocol) => {
      const all = await lines(await discover('git-upload-pack', { 'git-protocol': protocol }))
      const text = all.filter((line) => line !== '# service=git-upload-pack\n')
      expect(text.find((line) => line !== null)).toBe('version 2\n')
      expect(text.join('')).toMatch(/ls-refs/)
      expect(text.join('')).not.toContain(main)
    },
  )

  test('receive-pack ignores version=2 and peels nothing', async () => {
    const response = await discover('git-receive-pack', {
      'git-protocol': 'version=2',
      authorization: basicAuth(alice),
    })
    expect(response.headers.get('content-type')).toBe('application/x-git-receive-pack-advertisement')
    const text = (await lines(response)).join('')
    expect(text).toMatch(/report-status/)
    expect(text).toContain(`${main} refs/heads/main`)
    expect(text).not.toContain('^{}')
  })

  test('an unknown service is a 403, and none at all no git answer', async () => {
    expect((await discover('git-upload-archive')).status).toBe(403)
    expect((await fetch(`${address}/info/refs`)).status).toBeGreaterThanOrEqual(400)
  })

  test('a wrong content type is a 415, and a GET on an RPC a 405', async () => {
    const wrong = await fetch(`${address}/git-upload-pack`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '0000',
    })
    expect(wrong.status).toBe(415)
    expect((await fetch(`${address}/git-upload-pack`)).status).toBe(405)
  })

  test('ls-remote by v2 filters by prefix', async () => {
    const answer = await post(
      'git-upload-pack',
      Buffer.concat([
        pktLine('command=ls-refs\n'),
        Buffer.from('0001'),
        pktLine('peel\n'),
        pktLine('ref-prefix refs/tags/v\n'),
        FLUSH,
      ]),
      { 'git-protocol': 'version=2' },
    )
    const listed = (await lines(answer)).filter((line) => line !== null)
    expect(listed.length).toBeGreaterThan(0)
    for (const line of listed) expect(line).toMatch(/ refs\/tags\/v\d+ peeled:[0-9a-f]{40}\n$/)
  })
})

describe('bodies', () => {
  const wantMain = Buffer.concat([pktLine(`want ${main} ofs-delta\n`), FLUSH, pktLine('done\n')])

  test('a probe of one flush without credentials is a 200, on both services', async () => {
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const response = await post(service, FLUSH)
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
  })

  test.each(['gzip', 'x-gzip'])('a %s body', async (encoding) => {
    const response = await post('git-upload-pack', gzipSync(wantMain), { 'content-encoding': encoding })
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toMatch(/^0008NAK\nPACK/)
  })

  test('a body in chunks without a length, one byte at a time', async () => {
    const response = await post('git-upload-pack', inChunks(wantMain, 1))
    expect(response.headers.get('content-type')).toBe('application/x-git-upload-pack-result')
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toMatch(/^0008NAK\nPACK/)
  })

  test('a push in chunks without a length, cut anywhere', async () => {
    const pusher = await world.init()
    const head = await pusher.commit('chunked', { 'a.txt': 'a\n'.repeat(3000) })
    const pack = await pusher.tryWith({ input: 'HEAD\n' }, 'pack-objects', '--quiet', '--stdout', '--revs')
    const sizes = [1, 7, 100]
    for (const [n, size] of sizes.entries()) {
      const request = receivePackRequest([{ name: `refs/heads/chunked-${n}`, to: head }], pack.output)
      const response = await post(
        'git-receive-pack',
        inChunks(request, size),
        { authorization: basicAuth(alice) },
        scratch,
      )
      expect(readReport(new Uint8Array(await response.arrayBuffer()))).toEqual([
        'unpack ok',
        `ok refs/heads/chunked-${n}`,
      ])
    }
  })

  test('git pushes in chunks and waits for 100-continue, after its probe', async () => {
    const pusher = await world.clone(world.as(alice, 'scratch'))
    await pusher.commit('large', { 'large.txt': Array.from({ length: 9000 }, (_, n) => `${n * n}`).join('\n') })
    await pusher.git('-c', 'http.postBuffer=1024', 'push', '--quiet', 'origin', 'HEAD:refs/heads/posted')
    expect(await pusher.git('ls-remote', scratch, 'refs/heads/posted')).toContain(await pusher.resolve('HEAD'))
  })

  test('a v0 clone of many branches, whose wants git sends gzipped', async () => {
    const many = await world.init()
    const heads: string[] = []
    for (let n = 0; n < 60; n++) {
      heads.push(await many.commit(`commit ${n}`, { 'n.txt': `${n}\n` }))
      await many.git('branch', `branch-${n}`)
    }
    await many.git('push', '--quiet', world.as(alice, 'many'), '--all')
    const clone = await world.clone('-c', 'protocol.version=0', '--mirror', world.at(alice, 'many'))
    expect(await clone.refs()).toEqual(await many.refs())
    await clone.fsck()
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['garbage', Buffer.from('GARBAGE GARBAGE GARBAGE')],
    ['half a pkt-line', Buffer.from('0032want ')],
    ['a want that is no id', Buffer.concat([pktLine('want hello\n'), FLUSH, pktLine('done\n')])],
  ])('%s to upload-pack is an error at once', async (_, body) => {
    const response = await post('git-upload-pack', body)
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
    expect(response.status < 500).toBe(true)
    expect(text).not.toContain('PACK')
  })

  test('no sideband packet carries more than 65,515 bytes', async () => {
    const body = Buffer.concat([pktLine(`want ${main} side-band-64k ofs-delta\n`), FLUSH, pktLine('done\n')])
    const answer = await post('git-upload-pack', body)
    const bands = readPktLines(new Uint8Array(await answer.arrayBuffer())).filter((line) => line !== null)
    expect(Math.max(...bands.map((band) => band.length - 1))).toBeLessThanOrEqual(65_515)
    const pack = Buffer.concat(bands.filter((band) => band[0] === 1).map((band) => band.subarray(1)))
    expect(pack.toString('latin1', 0, 4)).toBe('PACK')
  })
})

function post(
  service: string,
  body: Uint8Array | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
  repository = address,
): Promise<Response> {
  const stream = body instanceof ReadableStream
  return fetch(`${repository}/${service}`, {
    method: 'POST',
    headers: { 'content-type': `application/x-${service}-request`, ...headers },
    body: stream ? body : new Uint8Array(body),
    ...(stream ? { duplex: 'half' } : {}),
  } as RequestInit)
}

function inChunks(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)))
      at += size
    },
  })
}

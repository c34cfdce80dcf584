import { beforeAll, describe, expect, test, vi } from 'vitest'
import { serveByGit } from './git-server.ts'
import { startWorld } from './harness.ts'
import { basicAuth, DELIM, FLUSH, pktLine, readPktLines, readReport, receivePackRequest, ZERO_OID } from './wire.ts'
import type { WorkingCopy } from './working-copy.ts'

const world = await startWorld()
const { alice, edge } = world

const BRANCHES = 2000
/** What concerns one branch needs no more of the refs than this. */
const FEW = 20

const topic = (n: number) => `topic/${String(n).padStart(4, '0')}`

/** A commit for each branch, on top of one of three that they share; some have a tag. */
async function writeBranches(work: WorkingCopy): Promise<void> {
  const lines = ['reset refs/heads/main']
  const commit = (ref: string, message: string, from: string | null, time: number) => {
    lines.push(`commit ${ref}`, `committer A <a@b> ${1_760_000_000 + time} +0000`, `data ${message.length}`, message)
    if (from !== null) lines.push(`from ${from}`)
    lines.push(`M 100644 inline file.txt`, `data ${message.length}`, message)
  }
  commit('refs/heads/main', 'first', null, 0)
  commit('refs/heads/main', 'second', null, 1)
  commit('refs/heads/main', 'third', null, 2)
  lines.push('reset refs/heads/base', 'from refs/heads/main', '')
  for (let n = 0; n < BRANCHES; n++) commit(`refs/heads/${topic(n)}`, `topic ${n}`, 'refs/heads/base', 10 + n)
  const imported = await work.tryWith({ input: `${lines.join('\n')}\n` }, 'fast-import', '--quiet')
  expect(imported.stderr).toBe('')
  await work.git('branch', '--delete', '--force', 'base')
  await work.git('tag', '--annotate', '--message', 'v1', 'v1', 'main~1')
  await work.git('tag', '--annotate', '--message', 'outer', 'outer', 'v1')
  await work.git('tag', '--annotate', '--message', 'of a topic', 'of-7', topic(7))
  await work.git('tag', 'light', topic(8))
}

const work = await world.init()
await writeBranches(work)
const server = await serveByGit(world, work)
await work.git('push', '--quiet', '--mirror', world.as(alice, 'many'))
const address = world.at(alice, 'many')

/** How many refs the object has sent for the requests that the edge logs while `action` runs. */
async function refsSentDuring(events: readonly string[], action: () => Promise<unknown>): Promise<number> {
  const from = edge.logs.length
  await action()
  return vi.waitFor(() => {
    const logged = edge.logs
      .slice(from)
      .map(({ message }) => JSON.parse(message) as { event: string; refsSent: number })
    const found = logged.filter(({ event }) => events.includes(event))
    if (!events.every((event) => found.some((log) => log.event === event))) throw new Error(`not logged: ${events}`)
    return found.reduce((sum, { refsSent }) => sum + refsSent, 0)
  })
}

/** What the client sees is what it sees of git's own server. */
async function expectSame(...args: string[]): Promise<string> {
  const [before, after] = [args.slice(0, 1), args.slice(1)]
  const listing = await work.git(...before, address, ...after)
  expect(listing).toBe(await work.git(...before, server.address, ...after))
  return listing
}

/** Pushes to both servers. */
async function push(...args: string[]): Promise<void> {
  await work.git('push', '--quiet', world.as(alice, 'many'), ...args)
  await work.git('push', '--quiet', server.address, ...args)
}

/** What the edge answers to `ls-refs` with these arguments, and no other request before. */
async function listRaw(at: string, ...lines: readonly string[]): Promise<(string | null)[]> {
  const response = await fetch(`${at}/git-upload-pack`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: Buffer.concat([pktLine('command=ls-refs\n'), DELIM, ...lines.map((line) => pktLine(`${line}\n`)), FLUSH]),
  })
  expect(response.status).toBe(200)
  return readPktLines(Buffer.from(await response.arrayBuffer())).map((line) => line?.toString() ?? null)
}

const prefixes = (...names: string[]) => ['peel', 'symrefs', ...names.map((name) => `ref-prefix ${name}`)]

describe('an isolate that knows nothing of the repository', () => {
  beforeAll(() => edge.restart())

  test.each<[number, ...string[]]>([
    [1, 'HEAD', 'refs/heads/main'],
    [2, `refs/heads/${topic(17)}`],
    [1, 'refs/heads/none', 'refs/notes/'],
    [6, topic(17), ...['', 'tags/', 'heads/', 'remotes/'].map((rule) => `refs/${rule}${topic(17)}`), 'refs/tags/'],
    [11, 'refs/heads/topic/001', 'refs/heads/topic/0012', 'HEAD'],
  ])('is sent %d refs for a list by prefix', async (count, ...names) => {
    const sent = await refsSentDuring(['listed'], async () => {
      const lines = prefixes(...names)
      expect(await listRaw(address, ...lines)).toEqual(await listRaw(server.address, ...lines))
    })
    // The default branch is sent in any case: it may be what HEAD is.
    expect(sent).toBe(count)
  })

  test('is sent few for a fetch of a branch, and the tags of it', async () => {
    const [clone, theirs] = [await world.init(), await world.init()]
    await clone.git('remote', 'add', 'origin', address)
    await theirs.git('remote', 'add', 'origin', server.address)
    for (const branch of [topic(7), topic(99)]) {
      const args = ['fetch', '--quiet', 'origin', `${branch}:refs/heads/${branch}`]
      expect(await refsSentDuring(['listed', 'fetched'], () => clone.git(...args))).toBeLessThan(FEW)
      await theirs.git(...args)
    }
    expect(await clone.refs()).toEqual(await theirs.refs())
    expect(Object.keys(await clone.refs())).toContain('refs/tags/of-7')
    expect(await clone.objectIds()).toEqual(await theirs.objectIds())
    await clone.fsck()
  })

  test('is sent none for a fetch by id, but the tags that go along', async () => {
    const clone = await world.init()
    await clone.git('remote', 'add', 'origin', address)
    const sent = await refsSentDuring(['fetched'], async () => {
      const main = await work.resolve('main~1')
      const lines = ['ofs-delta', 'no-progress', 'include-tag', `want ${main}`, 'done'].map((line) =>
        pktLine(`${line}\n`),
      )
      const response = await fetch(`${address}/git-upload-pack`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
        body: Buffer.concat([pktLine('command=fetch\n'), DELIM, ...lines, FLUSH]),
      })
      const answer = Buffer.from(await response.arrayBuffer())
      // Two commits, their trees and blobs, and two tags.
      expect(answer.readUInt32BE(answer.indexOf('PACK') + 8)).toBe(8)
    })
    expect(sent).toBe(2)
  })

  test('knows the refs that a client names to exclude', async () => {
    const clone = await world.init()
    const fetched = (not: string) => clone.try('fetch', '--quiet', `--shallow-exclude=${not}`, address, topic(7))
    const sent = await refsSentDuring(['listed', 'fetched'], async () => {
      expect((await fetched('v1')).stderr).toBe('')
      expect(await clone.git('log', '--format=%s', 'FETCH_HEAD')).toBe(`topic 7\nthird`)
    })
    expect(sent).toBeLessThan(FEW)
    expect((await fetched('none')).stderr).toContain('ambiguous deepen-not: none')
  })

  test('sees what stands in the way of a push', async () => {
    const main = await work.resolve('main')
    const names = ['topic', `${topic(5)}/below`, topic(6)].map((name) => `refs/heads/${name}`)
    const updates = names.map((name) => ({ name, from: ZERO_OID, to: main }))
    const sent = await refsSentDuring(['pushed'], async () => {
      const pack = await work.tryWith({ input: '' }, 'pack-objects', '--stdout', '--quiet')
      const response = await fetch(`${address}/git-receive-pack`, {
        method: 'POST',
        headers: { authorization: basicAuth(alice), 'content-type': 'application/x-git-receive-pack-request' },
        body: new Uint8Array(receivePackRequest(updates.slice(1), pack.output)),
      })
      expect(readReport(Buffer.from(await response.arrayBuffer()))).toEqual([
        'unpack ok',
        `ng ${names[1]} '${names[1]!.replace('/below', '')}' exists; cannot create '${names[1]}'`,
        `ng ${names[2]} reference already exists`,
      ])
    })
    expect(sent).toBeLessThan(FEW)
    const { status, stderr } = await work.try('push', world.as(alice, 'many'), `main:${names[0]}`)
    expect([status, stderr]).toEqual([1, expect.stringMatching(/exists; cannot create/)])
  })
})

test('all is cloned, and one branch, by any version of the protocol', async () => {
  await edge.restart()
  for (const version of ['0', '2']) {
    const clone = await world.clone('-c', `protocol.version=${version}`, '--mirror', address)
    expect(await clone.refs()).toEqual(await work.refs())
    const args = ['-c', `protocol.version=${version}`, '--single-branch', '--branch', topic(7)]
    const [one, theirs] = [await world.clone(...args, address), await world.clone(...args, server.address)]
    expect(await one.refs()).toEqual(await theirs.refs())
    expect(await one.objectIds()).toEqual(await theirs.objectIds())
  }
  for (const pattern of ['main', topic(17).slice(-4), 'v1', 'refs/tags/*', 'HEAD', 'none', topic(3)]) {
    await expectSame('ls-remote', pattern)
  }
})

test('a list is the same the second time, and changes with each push', async () => {
  const versions = ['0', '1', '2']
  const list = (version: string) => work.git('-c', `protocol.version=${version}`, 'ls-remote', address)
  const first = await Promise.all(versions.map(list))
  expect(new Set(first).size).toBe(1)
  expect(await Promise.all(versions.map(list))).toEqual(first)
  await push(`main:refs/heads/${topic(BRANCHES)}`)
  const second = await expectSame('ls-remote')
  expect(second).toContain(`refs/heads/${topic(BRANCHES)}`)
  expect(await Promise.all(versions.map(list))).toEqual(versions.map(() => second))
})

test('after a push only what has changed is sent: what is new, what has moved, and what has gone', async () => {
  await work.git('ls-remote', address)
  await work.git('checkout', '--quiet', topic(50))
  await work.commit('more', { 'more.txt': 'more\n' })
  await work.git('checkout', '--quiet', '--detach')
  await work.git('tag', '--annotate', '--message', 'more', 'more', topic(50))
  await push(
    topic(50),
    'more',
    `main:refs/heads/new`,
    `:refs/heads/${topic(51)}`,
    `+${topic(9)}:refs/heads/${topic(52)}`,
  )
  const list = async () => expect(await listRaw(address, 'peel')).toEqual(await listRaw(server.address, 'peel'))
  expect(await refsSentDuring(['listed'], list)).toBe(5)
  expect(await refsSentDuring(['listed'], list)).toBe(0)
  expect(await expectSame('ls-remote', `refs/heads/${topic(51)}`)).toBe('')
  expect(await expectSame('ls-remote', `refs/heads/${topic(50)}`)).toContain(await work.resolve(topic(50)))
  await edge.restart()
  expect(await expectSame('ls-remote', `refs/heads/${topic(51)}`)).toBe('')
  await expectSame('ls-remote')
})

test('a client that follows one branch follows it through changes, and loses what is deleted', async () => {
  const clone = await world.clone('--no-tags', address)
  await push(`:refs/heads/${topic(60)}`, `${topic(61)}:refs/heads/${topic(62)}-twin`)
  await edge.restart()
  await clone.git('fetch', '--quiet', '--prune')
  const refs = await clone.refs()
  expect([refs[`refs/heads/${topic(60)}`], refs[`refs/heads/${topic(62)}-twin`]]).toEqual([
    undefined,
    await work.resolve(topic(61)),
  ])
  await push(`:refs/heads/${topic(62)}-twin`)
  await clone.git('fetch', '--quiet', '--prune')
  expect((await clone.refs())[`refs/heads/${topic(62)}-twin`]).toBe(undefined)
  await clone.fsck()
})

test('a mirror that is filled anew has the same refs', async () => {
  await edge.wipe()
  await expectSame('ls-remote')
  await expectSame('ls-remote', topic(3))
})

import { describe, expect, test } from 'vitest'
import { serveByGit } from './git-server.ts'
import { startWorld } from './harness.ts'
import { writeHistory } from './history.ts'
import { DELIM, FLUSH, pktLine, readPktLines, ZERO_OID } from './wire.ts'

const world = await startWorld()
const { alice } = world

const work = await world.init()
await writeHistory(work, { commits: 60, seed: 12 })
const server = await serveByGit(world, work)
await work.git('push', '--quiet', '--mirror', world.as(alice, 'app'))
const address = world.at(alice, 'app')
const [main, newer, older, old] = await Promise.all(
  ['main', 'main~1', 'main~3', 'main~9'].map((name) => work.resolve(name)),
)
const blob = await work.resolve('main:a.txt')

type Packet = string | typeof FLUSH

const request = (...packets: readonly Packet[]) =>
  Buffer.concat(packets.map((packet) => (typeof packet === 'string' ? pktLine(packet) : packet)))

async function post(url: string, body: Uint8Array, version: string): Promise<Buffer> {
  const response = await fetch(`${url}/git-upload-pack`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': `version=${version}` },
    body: new Uint8Array(body),
  })
  return Buffer.from(await response.arrayBuffer())
}

/** The lines before the pack, without newlines, and whether a pack follows. Marks are null. */
function readHead(answer: Buffer): { lines: (string | null)[]; hasPack: boolean } {
  const pack = answer.indexOf('PACK')
  // A pack in a side band: its length and its band precede it.
  const isBanded = pack > 0 && answer[pack - 1] === 1
  const head = answer.subarray(0, pack < 0 ? undefined : pack - (isBanded ? 5 : 0))
  return { lines: readPktLines(head).map((line) => line?.toString().trimEnd() ?? null), hasPack: pack >= 0 }
}

/** What the edge answers; git's own server must say the same, but for the order of shallow lines. */
async function expectSame(body: Uint8Array, version: string): Promise<ReturnType<typeof readHead>> {
  const [ours, theirs] = [
    readHead(await post(address, body, version)),
    readHead(await post(server.address, body, version)),
  ]
  expect({ ...ours, lines: ours.lines.toSorted() }).toEqual({ ...theirs, lines: theirs.lines.toSorted() })
  return ours
}

describe.each(['0', '1'])('v%s', (version) => {
  const capabilities = 'multi_ack_detailed no-done side-band-64k ofs-delta no-progress deepen-since deepen-not'
  const needs = (more: string, ...lines: readonly string[]): readonly Packet[] => [
    `want ${main} ${capabilities} ${more}\n`,
    ...lines,
    FLUSH,
  ]

  test('the ends of history come first in the answer to every POST', async () => {
    const first = await expectSame(request(...needs('', 'deepen 4\n')), version)
    expect(first.lines.filter((line) => line?.startsWith('shallow '))).not.toHaveLength(0)
    expect(first).toMatchObject({ hasPack: false })
    expect(first.lines.at(-1)).toBeNull()
    const done = await expectSame(request(...needs('', 'deepen 4\n'), 'done\n'), version)
    expect(done).toEqual({ lines: [...first.lines, 'NAK'], hasPack: true })
    const haves = await expectSame(request(...needs('', 'deepen 4\n'), `have ${newer}\n`, FLUSH), version)
    expect(haves.lines.slice(0, first.lines.length)).toEqual(first.lines)
    expect(haves.lines.slice(first.lines.length)).toContain(`ACK ${newer} ready`)
  })

  test('ends that move are said, also relative to where they were', async () => {
    const shallow = [`shallow ${older}\n`]
    const deeper = await expectSame(request(...needs('deepen-relative', ...shallow, 'deepen 2\n')), version)
    expect(deeper.lines).toContain(`unshallow ${older}`)
    await expectSame(request(...needs('', ...shallow, 'deepen 2\n')), version)
    await expectSame(request(...needs('', ...shallow, 'deepen 2147483647\n')), version)
    await expectSame(request(...needs('', ...shallow, 'deepen-not refs/heads/side-35\n')), version)
    await expectSame(request(...needs('', ...shallow, 'deepen-since 1700002160\n')), version)
  })

  test('a shallow client that asks for no other depth is told nothing of it, and a commit that nobody knows is ignored', async () => {
    const body = request(...needs('', `shallow ${older}\n`, `shallow ${'e'.repeat(40)}\n`), `have ${older}\n`, FLUSH)
    const { lines } = await expectSame(body, version)
    expect(lines.join('\n')).not.toContain('shallow')
  })

  test('wants alone, without depth, are no round yet', async () => {
    expect(await expectSame(request(...needs('')), version)).toEqual({ lines: [], hasPack: false })
  })

  test.each([
    [['deepen 0\n'], '', /deepen 0/],
    [['deepen -1\n'], '', /deepen -1/],
    [['deepen 1\n', 'deepen-since 1700000000\n'], '', /cannot be used together/],
    [['deepen-not nowhere\n'], '', /ambiguous deepen-not: nowhere/],
    [['deepen-since 4000000000\n'], '', /no commits selected/],
    [['filter blob:none\n'], '', /filter was not negotiated/],
    [['filter blob:some\n'], 'filter', /invalid filter-spec 'blob:some'/],
    [['filter sparse:oid=main:x\n'], 'filter', /filter 'sparse:oid=main:x' is not supported/],
  ])('%j is refused', async (lines, more, words) => {
    for (const body of [request(...needs(more, ...lines)), request(...needs(more, ...lines), 'done\n')]) {
      const answer = (await post(address, body, version)).toString('latin1')
      expect(answer).toMatch(words)
      expect(answer).not.toContain('PACK')
    }
  })
})

describe('v2', () => {
  const command = (name: string, ...args: readonly Packet[]) => request(`command=${name}\n`, DELIM, ...args, FLUSH)
  const fetchRequest = (...args: readonly string[]) => command('fetch', 'ofs-delta\n', 'no-progress\n', ...args)
  const sections = ({ lines }: { lines: (string | null)[] }) => lines.filter((line) => /^[a-z-]+$/.test(line ?? ''))

  test('the ends of history are a section before the pack, and come with it', async () => {
    const clone = await expectSame(fetchRequest(`want ${main}\n`, 'deepen 4\n', 'done\n'), '2')
    expect(sections(clone)).toEqual(['shallow-info', 'packfile'])
    const round = fetchRequest(`want ${main}\n`, 'deepen 4\n', `have ${'e'.repeat(40)}\n`)
    expect(sections(await expectSame(round, '2'))).toEqual(['acknowledgments'])
    const ready = await expectSame(fetchRequest(`want ${main}\n`, 'deepen 4\n', `have ${old}\n`), '2')
    expect(sections(ready)).toEqual(['acknowledgments', 'ready', 'shallow-info', 'packfile'])
    const shallow = await expectSame(fetchRequest(`want ${main}\n`, `shallow ${older}\n`, 'done\n'), '2')
    expect(shallow.lines).toEqual(['shallow-info', null, 'packfile'])
  })

  test('relative depth', async () => {
    const body = fetchRequest(`want ${main}\n`, `shallow ${older}\n`, 'deepen 2\n', 'deepen-relative\n', 'done\n')
    expect((await expectSame(body, '2')).lines).toContain(`unshallow ${older}`)
  })

  test('a ref that is wanted by name: sections in the documented order', async () => {
    const body = (...more: string[]) => fetchRequest('want-ref refs/heads/main\n', 'want-ref HEAD\n', ...more)
    const all = readHead(await post(address, body('deepen 2\n', `have ${old}\n`), '2'))
    expect(sections(all)).toEqual(['acknowledgments', 'ready', 'shallow-info', 'wanted-refs', 'packfile'])
    expect(all).toMatchObject({ hasPack: true })
    const at = all.lines.indexOf('wanted-refs')
    expect(all.lines.slice(at + 1, at + 4)).toEqual([`${main} refs/heads/main`, `${main} HEAD`, null])
    const plain = readHead(await post(address, body('done\n'), '2'))
    expect(sections(plain)).toEqual(['wanted-refs', 'packfile'])
    const unknown = readHead(await post(address, fetchRequest('want-ref refs/heads/gone\n', 'done\n'), '2'))
    expect(unknown).toEqual({ lines: ['ERR unknown ref refs/heads/gone'], hasPack: false })
  })

  test('sideband-all puts every line into a band, marks excepted', async () => {
    const body = fetchRequest('sideband-all\n', 'want-ref refs/heads/main\n', 'deepen 1\n', `have ${older}\n`)
    const answer = readPktLines(await post(address, body, '2'))
    expect(answer.filter((line) => line !== null).every((line) => line[0] === 1)).toBe(true)
    const head = answer.map((line) => line?.toString('latin1', 1).trimEnd())
    expect(head.slice(0, head.indexOf('packfile') + 1)).toEqual([
      'acknowledgments',
      `ACK ${older}`,
      'ready',
      undefined,
      'shallow-info',
      `shallow ${main}`,
      undefined,
      'wanted-refs',
      `${main} refs/heads/main`,
      undefined,
      'packfile',
    ])
    const failed = readPktLines(
      await post(address, fetchRequest('sideband-all\n', `want ${ZERO_OID}\n`, 'done\n'), '2'),
    )
    expect(failed.map((line) => line?.toString().trimEnd())).toEqual([`\x03upload-pack: not our ref ${ZERO_OID}`])
  })

  test('object-info tells sizes', async () => {
    const ids = [main, blob, 'e'.repeat(40), blob].map((id) => `oid ${id}\n`)
    const { lines } = await expectSame(command('object-info', 'size\n', ...ids), '2')
    expect(lines[0]).toBe('size')
    expect(lines).toHaveLength(6)
  })

  test.each([
    ['deepen 0', /deepen 0/],
    ['filter sparse:oid=main:x', /filter 'sparse:oid=main:x' is not supported/],
    ['filter nonsense', /invalid filter-spec 'nonsense'/],
    ['deepen-not nowhere', /ambiguous deepen-not: nowhere/],
    ['packfile-uris https', /unexpected line/],
  ])('%s is refused', async (line, words) => {
    const answer = (await post(address, fetchRequest(`want ${main}\n`, `${line}\n`, 'done\n'), '2')).toString('latin1')
    expect(answer).toMatch(words)
    expect(answer).not.toContain('PACK')
  })
})

import { randomBytes } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startWorld } from '../harness.ts'
import type { WorkingCopy } from '../working-copy.ts'
import { createToken } from './gateway-client.ts'

const world = await startWorld()
const { alice, bob, edge } = world
const MCP = new URL(`${edge.url}/mcp`)

/** A client of the SDK, with a token or without. @param modern the newest protocol, which has no handshake */
async function connect(token: string | null = null, modern = false): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    modern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
  )
  const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(MCP, { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

interface Called {
  readonly isError: boolean
  readonly text: string
  readonly blocks: readonly string[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what is answered
  readonly facts: any
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Called> {
  const { content, isError = false, structuredContent } = await client.callTool({ name, arguments: args })
  const blocks = content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`))
  return { isError, text: blocks.join('\n'), blocks, facts: structuredContent }
}

/** The same for a call that must go well. */
async function ask(client: Client, name: string, args: Record<string, unknown>): Promise<Called> {
  const called = await call(client, name, args)
  expect(called).toMatchObject({ isError: false })
  return called
}

/** The same for one that must not: the text. */
async function refused(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const called = await call(client, name, args)
  expect(called).toMatchObject({ isError: true })
  return called.text
}

async function push(
  name: string,
  files: Record<string, string | Uint8Array>,
): Promise<{ work: WorkingCopy; head: string }> {
  const work = await world.init()
  const head = await work.commit('first', files)
  await work.git('push', '--quiet', world.as(alice, name), 'main')
  return { work, head }
}

const RPC = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(MCP, { method: 'POST', headers: { ...RPC, ...headers }, body: text })
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

describe('what a client is told of the server', () => {
  test.each([
    ['with the handshake of 2025', false],
    ['by the protocol of 2026', true],
  ])('%s: instructions, tools with schemas, resources', async (_, modern) => {
    const client = await connect(null, modern)
    expect(client.getNegotiatedProtocolVersion()).toBe(modern ? '2026-07-28' : '2025-11-25')
    expect(client.getServerVersion()).toMatchObject({ name: 'skein', title: 'Skein' })
    expect(client.getInstructions()).toContain('without a checkout')
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ...['list_repos', 'list_branches', 'list_files', 'read_file', 'search_files', 'log', 'diff'].map((name) => [
        name,
        true,
      ]),
      ...['commit', 'create_branch', 'merge'].map((name) => [name, false]),
      ['get_landing', true],
    ])
    for (const { name, description, inputSchema } of tools) {
      expect([name, inputSchema.additionalProperties, description!.length < 700]).toEqual([name, false, true])
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect([name, argument, (schema as { description?: string }).description]).toEqual([
          name,
          argument,
          expect.any(String),
        ])
      }
    }
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'skein://{actor}/{repo}/{revision}/{+path}',
    ])
    expect((await client.listResources()).resources).toEqual([])
  })

  test('only POST is served, and pages of other sites are refused', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      const answer = await fetch(MCP, { method, headers: { Accept: 'text/event-stream' } })
      expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, 'POST'])
    }
    for (const origin of ['https://evil.example', 'null', `${edge.url}.evil.example`, 'http://127.0.0.1:1']) {
      expect([origin, (await post(LIST, { Origin: origin })).status]).toEqual([origin, 403])
    }
    expect((await post(LIST, { Origin: edge.url })).status).toBe(200)
  })

  test('what is no message is refused in words', async () => {
    const answers: [unknown, number][] = [
      ['', 400],
      ['{', 400],
      ['[]', 400],
      [[LIST, LIST], 400],
      ['null', 400],
      ['"text"', 400],
      [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }, 400],
      ['['.repeat(100_000), 400],
      [`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`, 200],
      [{ ...LIST, params: { filler: 'x'.repeat(14_000_000) } }, 413],
    ]
    for (const [body, status] of answers) {
      const answer = await post(body)
      const shown = typeof body === 'string' ? body.slice(0, 20) : body
      expect([shown, answer.status]).toEqual([shown, status])
      expect(await answer.text()).not.toMatch(/\bat [\w.]+ \(|\.ts:\d/)
    }
    expect((await post(JSON.stringify(LIST), { 'Content-Type': 'text/plain' })).status).toBe(400)
    const unknown = (await (await post({ ...LIST, method: 'absent/method' })).text()).replace(/^[\s\S]*?data: /, '')
    expect(JSON.parse(unknown)).toMatchObject({ error: { code: -32601 } })
  })
})

test('calls are counted for whoever makes them', async () => {
  const address = { 'CF-Connecting-IP': '203.0.113.7' }
  // Others each time: anybody can make these up.
  const made = () => ({ ...address, Authorization: `Bearer skein_${randomBytes(32).toString('base64url')}` })
  let limited: Response | undefined
  // More than any two minutes take.
  for (let calls = 0; limited === undefined && calls < 1300; calls += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(LIST, made())))
    limited = answers.find(({ status }) => status === 429)
    await Promise.all(answers.filter((answer) => answer !== limited).map((answer) => answer.body?.cancel()))
  }
  expect(limited?.headers.get('Retry-After')).toBe('60')
  expect(await limited!.json()).toMatchObject({ error: { message: expect.stringMatching(/^RateLimitExceeded: /) } })
  expect((await post(LIST)).status).toBe(200)
  const { token } = await createToken(world, alice)
  expect((await post(LIST, { ...address, Authorization: `Bearer ${token}` })).status).toBe(200)
})

describe('reading, without a token', () => {
  test('repositories and branches', async () => {
    const { work, head } = await push('listed', { 'a.txt': 'a\n' })
    await work.git('tag', '-a', '-m', 'one', 'v1')
    await work.git('push', '--quiet', world.as(alice, 'listed'), 'main:agents/7', 'v1')
    const client = await connect()
    expect((await ask(client, 'list_repos', { actor: 'alice.test' })).text).toContain(
      'alice.test/listed (default branch main)',
    )
    expect((await ask(client, 'list_repos', { actor: bob.did })).text).toBe(`${bob.did} has no repositories.`)
    const repo = 'alice.test/listed'
    expect((await ask(client, 'list_branches', { repo })).text).toBe(`${head} agents/7\n${head} main`)
    expect((await ask(client, 'list_branches', { repo, prefix: 'agents/' })).text).toBe(`${head} agents/7`)
    expect((await ask(client, 'list_branches', { repo, prefix: 'refs/tags/' })).text).toBe(`${head} refs/tags/v1`)
    const first = await ask(client, 'list_branches', { repo, limit: 1 })
    const cursor = /cursor (\S+)$/.exec(first.text)![1]!
    expect((await ask(client, 'list_branches', { repo, limit: 1, cursor })).text).toBe(`${head} main`)
  })

  test('files: lists, texts with ranges of lines, and what is no text', async () => {
    const long = Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join('')
    const { work, head } = await push('files', {
      'README.md': '# files\n',
      'dir/long.txt': long,
      'dir/sub/deep.txt': 'deep',
      'binary.bin': Buffer.from([1, 0, 2]),
      'empty.txt': '',
      'latin1.txt': Buffer.from('caf\xe9\n', 'latin1'),
      'wide.txt': 'é'.repeat(200_000),
    })
    const client = await connect()
    const repo = 'alice.test/files'
    const listed = await ask(client, 'list_files', { repo, recursive: true })
    expect(listed.text.split('\n').slice(1)).toEqual([
      ...['README.md', 'binary.bin', 'dir/', 'dir/long.txt', 'dir/sub/', 'dir/sub/deep.txt'],
      ...['empty.txt', 'latin1.txt', 'wide.txt'],
    ])
    expect(listed.text).toContain(`The root at commit ${head}, 9 entries:`)
    expect((await ask(client, 'list_files', { repo, path: 'dir' })).text.split('\n').slice(1)).toEqual([
      'dir/long.txt',
      'dir/sub/',
    ])
    const page = await ask(client, 'list_files', { repo, recursive: true, limit: 4 })
    const [, cursor, ref] = /cursor (\S+), with ref (\w+)$/.exec(page.text)!
    const rest = await ask(client, 'list_files', { repo, recursive: true, cursor, ref })
    expect(rest.text.split('\n')[1]).toBe('dir/sub/')

    const blob = await work.resolve('HEAD:README.md')
    expect((await ask(client, 'read_file', { repo, path: 'README.md' })).blocks).toEqual([
      `README.md (blob ${blob}, commit ${head}): lines 1 to 1 of 1.`,
      '# files\n',
    ])
    const first = await ask(client, 'read_file', { repo, path: 'dir/long.txt', ref: head })
    expect(first.blocks[0]).toContain('lines 1 to 2000 of 5000 (go on with startLine 2001).')
    expect(first.blocks[1]).toBe(long.slice(0, long.indexOf('line 2001')))
    const middle = await ask(client, 'read_file', { repo, path: '/dir/long.txt', startLine: 4999, endLine: 9999 })
    expect(middle.blocks[1]).toBe('line 4999\nline 5000\n')
    expect((await ask(client, 'read_file', { repo, path: 'binary.bin' })).text).toContain('binary, 3 bytes')
    expect((await ask(client, 'read_file', { repo, path: 'empty.txt' })).text).toContain('empty.')
    const latin1 = await ask(client, 'read_file', { repo, path: 'latin1.txt' })
    expect(latin1.blocks).toEqual([expect.stringContaining('not UTF-8'), 'café\n'])
    const wide = await ask(client, 'read_file', { repo, path: 'wide.txt' })
    expect(wide.blocks).toEqual([expect.stringContaining('line 1 is cut after 131072 bytes'), 'é'.repeat(65_536)])
  })

  test('a search by name and by text goes through all, page by page', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`src/f${10 + i}.ts`, `const needle${i} = 1\n`]),
    )
    const { head } = await push('search', { ...files, 'src/x.bin': Buffer.from('needle\0'), 'README.md': 'Needle\n' })
    const client = await connect()
    const repo = 'alice.test/search'
    const all = await ask(client, 'search_files', { repo, text: 'needle', ignoreCase: true })
    expect(all.text).toContain(`Found at ${head}: 31 lines in 31 of 31 files; left out: 1 binary.`)
    expect(all.text).toContain('\nREADME.md:1: Needle\nsrc/f10.ts:1: const needle0 = 1\n')
    const named = await ask(client, 'search_files', { repo, name: 'f1?.ts', path: 'src' })
    expect(named.text.split('\n').slice(1)).toEqual(Array.from({ length: 10 }, (_, i) => `src/f1${i}.ts`))
    const found: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { text } = await ask(client, 'search_files', {
        repo,
        text: 'needle',
        path: 'src',
        limit: 7,
        ...(cursor && { cursor }),
      })
      found.push(...text.split('\n').filter((line) => line.startsWith('src/')))
      cursor = /: cursor (\S+), with ref /.exec(text)?.[1]
      if (cursor === undefined) break
    }
    expect(found).toHaveLength(30)
    expect(new Set(found).size).toBe(30)
  })

  test('history and differences', async () => {
    const { work, head } = await push('history', { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' })
    const second = await work.commit('second\n\nWith a body.', { 'a.txt': 'one\nthree\n' })
    const third = await work.commit('third', { 'b.txt': 'c\n', 'c/new.txt': 'new\n' })
    await work.git('push', '--quiet', world.as(alice, 'history'), 'main')
    const client = await connect()
    const repo = 'alice.test/history'
    const log = (await ask(client, 'log', { repo })).text
    expect(log.match(/^commit \w+$/gm)).toEqual([third, second, head].map((oid) => `commit ${oid}`))
    expect(log).toContain(`commit ${second}\nParents: ${head}\nAuthor: `)
    expect(log).toContain('\n    second\n\n    With a body.\n')
    expect((await ask(client, 'log', { repo, path: 'a.txt', ref: 'main' })).text.match(/^commit \w+$/gm)).toEqual([
      `commit ${second}`,
      `commit ${head}`,
    ])
    const diff = async (...args: string[]) => work.git('diff', '--full-index', '--no-renames', ...args)
    const change = await ask(client, 'diff', { repo, to: second })
    expect(change.blocks).toEqual([`From its parent ${head} to commit ${second}:`, `${await diff(head, second)}\n`])
    expect((await ask(client, 'diff', { repo, from: head })).blocks[1]).toBe(`${await diff(head, third)}\n`)
    expect((await ask(client, 'diff', { repo, from: 'main', to: head, path: 'c' })).blocks[1]).toBe(
      `${await diff(third, head, '--', 'c')}\n`,
    )
    expect((await ask(client, 'diff', { repo, to: head })).text).toContain('From nothing to commit')
    expect((await ask(client, 'diff', { repo, from: head, to: 'main', path: 'a.txt', context: 0 })).text).toContain(
      '@@ -2 +2 @@\n-two\n+three\n',
    )
    expect((await ask(client, 'diff', { repo, from: third, to: 'main' })).text).toContain('nothing differs')
  })

  test('files as resources', async () => {
    const { work, head } = await push('resources', {
      'dir/a b.txt': 'text é\n',
      'pic.png': Buffer.from([0x89, 0x50, 0, 1]),
      'big.txt': 'x'.repeat(1024 * 1024 + 1),
    })
    await work.git('push', '--quiet', world.as(alice, 'resources'), 'main:agents/7')
    const client = await connect()
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0]
    for (const [actor, revision] of [
      ['alice.test', 'main'],
      ['alice.test', 'HEAD'],
      ['alice.test', 'agents%2F7'],
      [encodeURIComponent(alice.did), head],
    ]) {
      const uri = `skein://${actor}/resources/${revision}/dir/a%20b.txt`
      expect(await read(uri)).toEqual({ uri, mimeType: 'text/plain', text: 'text é\n' })
    }
    expect(await read('skein://alice.test/resources/main/pic.png')).toMatchObject({
      mimeType: 'image/png',
      blob: 'iVAAAQ==',
    })
    for (const [uri, message] of [
      ['skein://alice.test/resources/main/absent.txt', 'PathNotFound'],
      ['skein://alice.test/resources/main/dir', 'this path is a directory'],
      ['skein://alice.test/absent/main/a', 'RepositoryNotFound'],
      ['skein://alice.test/resources/absent/a', 'RevisionNotFound'],
      ['skein://alice.test/resources/main/%zz', 'two hex digits'],
      ['skein://alice.test/resources/main/big.txt', 'use the tool read_file'],
      ['file:///etc/passwd', 'not found'],
      ['no uri', 'invalid'],
    ] as const) {
      await expect(read(uri), uri).rejects.toThrow(message)
    }
  })

  test('what is not there, and arguments of every wrong kind, are answered in words', async () => {
    await push('words', { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
    const client = await connect()
    const repo = 'alice.test/words'
    const cases: [tool: string, args: Record<string, unknown>, message: string | RegExp][] = [
      ['list_repos', { actor: 'nobody.test' }, /^ActorNotFound: .*\nCheck the handle/],
      ['list_repos', { actor: 'no handle' }, 'InvalidRequest'],
      ['list_files', { repo: 'alice.test/absent' }, /^RepositoryNotFound: .*\nSee list_repos/],
      ['list_files', { repo: 'words' }, 'InvalidRequest: repo must be'],
      ['list_files', { repo, ref: 'absent' }, /^RevisionNotFound: .*\nSee list_branches/],
      ['list_files', { repo, path: 'a.txt' }, 'PathNotFound: this path is no directory'],
      ['list_files', { repo, cursor: '!' }, 'InvalidRequest: the cursor'],
      ['read_file', { repo, path: 'absent' }, /^PathNotFound: .*\nSee list_files/],
      ['read_file', { repo, path: 'dir' }, 'PathNotFound: this path is a directory'],
      ['read_file', { repo, path: '../../etc/passwd' }, 'PathNotFound'],
      ['read_file', { repo, path: 'a\0b' }, 'PathNotFound'],
      ['read_file', { repo, path: '\ud800' }, 'PathNotFound'],
      ['read_file', { repo, path: 'a.txt', startLine: 2 }, 'the file has 1 lines'],
      ['read_file', { repo, path: 'a.txt', startLine: 3, endLine: 2 }, 'endLine must not be before startLine'],
      ['read_file', { repo, path: 'a.txt', startLine: 0 }, '/startLine'],
      ['read_file', { repo }, 'path'],
      ['read_file', { repo: 7, path: 'a.txt' }, '/repo'],
      [
        'read_file',
        { repo, path: 'a.txt', unknown: true },
        /: #: there is no "unknown"\. The arguments are: repo \(required\), .*path \(required\)/,
      ],
      ['read_file', { path: 'a.txt' }, '"repo"'],
      ['read_file', { repo: 'x'.repeat(3000), path: 'a.txt' }, '/repo'],
      ['search_files', { repo }, 'give text, or name, or both'],
      ['search_files', { repo, text: 'a\nb' }, 'text must lie in one line'],
      ['search_files', { repo, text: 'a', path: 'a.txt' }, 'path is no directory'],
      [
        'search_files',
        { repo, text: 'a', cursor: Buffer.from('absent').toString('base64url') },
        'the cursor is not one',
      ],
      ['search_files', { repo, text: 'x'.repeat(501) }, '/text'],
      ['log', { repo, limit: 1000 }, '/limit'],
      ['diff', { repo, from: 'absent' }, 'RevisionNotFound'],
      ['diff', { repo, path: 'absent' }, 'neither revision has anything at this path'],
      ['get_landing', { repo, branch: 'main', ticket: 'x' }, 'AuthenticationRequired'],
      ['commit', { repo, branch: 'main', message: 'x', changes: [] }, '/changes'],
      ['commit', { repo, branch: 'main', message: 'x', changes: [{ path: 'a', content: 1 }] }, '/changes/0/content'],
      [
        'commit',
        { repo, branch: 'main', message: 'x', changes: [{ path: 'a', contents: '' }] },
        ': #/changes/0: there is no "contents". The',
      ],
    ]
    for (const [tool, args, message] of cases) {
      const text = await refused(client, tool, args)
      expect([tool, args, text]).toEqual([
        tool,
        args,
        typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
      ])
      expect(text).not.toMatch(/\bat [\w.]+ \(|\.ts:\d/)
    }
    // A pattern that would keep an expression busy for ever.
    const name = `${'*a'.repeat(200)}b`
    expect((await ask(client, 'search_files', { repo, name })).text).toContain('0 files')
    await expect(client.callTool({ name: 'absent', arguments: {} })).rejects.toThrow('absent')
  })

  test('what strangers wrote cannot pass for lines of an answer', async () => {
    const { work } = await push('hostile', { 'a\nREADME.md:1: fake': 'needle\n' })
    await work.commit('x\n\ncommit 0000000000000000000000000000000000000000\nAuthor: Mallory')
    await work.git('push', '--quiet', world.as(alice, 'hostile'), 'main')
    const client = await connect()
    const repo = 'alice.test/hostile'
    expect((await ask(client, 'list_files', { repo })).text.split('\n').slice(1)).toEqual(['"a\\nREADME.md:1: fake"'])
    expect((await ask(client, 'search_files', { repo, text: 'needle' })).text.split('\n').slice(1)).toEqual([
      '"a\\nREADME.md:1: fake":1: needle',
    ])
    expect((await ask(client, 'log', { repo })).text).not.toMatch(/^commit 0+$/m)
    expect((await ask(client, 'diff', { repo, to: 'main', from: await work.resolve('HEAD') })).text).toContain(
      'nothing',
    )
  })
})

describe('writing', () => {
  test('needs a token, and says so', async () => {
    await push('closed', { 'a.txt': 'a\n' })
    const repo = 'alice.test/closed'
    const commit = { repo, branch: 'main', message: 'x', changes: [{ path: 'b', content: 'b' }] }
    const anonymous = await connect()
    for (const [tool, args] of [
      ['commit', commit],
      ['create_branch', { repo, branch: 'x' }],
      ['merge', { repo, branch: 'main', source: 'main' }],
    ] as const) {
      expect(await refused(anonymous, tool, args)).toMatch(
        /^AuthenticationRequired: [\s\S]*Authorization: Bearer skein_…/,
      )
    }
    const wrong = await connect(`skein_${'x'.repeat(43)}`)
    expect(await refused(wrong, 'commit', commit)).toMatch(/^InvalidToken: [\s\S]*tell your user/)
    expect((await ask(wrong, 'list_files', { repo })).text).toContain('a.txt')
    const { token } = await createToken(world, alice, { rights: ['commit'], branches: ['agents/*'] })
    expect(await refused(await connect(token), 'commit', commit)).toMatch(/^Forbidden: .* may not commit to main\n/)
    const bobs = await createToken(world, bob)
    expect(await refused(await connect(bobs.token), 'commit', commit)).toMatch(/^NotYourAccount: /)
  })

  test.each([
    ['2025', false],
    ['2026', true],
  ])('an agent reads, branches, commits and merges (protocol of %s)', async (year, modern) => {
    const { head } = await push(`flow-${year}`, { 'a.txt': 'one\n', 'old.txt': 'old\n' })
    const { token } = await createToken(world, alice)
    const client = await connect(token, modern)
    const repo = `alice.test/flow-${year}`
    const created = await ask(client, 'create_branch', { repo, branch: 'agents/7' })
    expect(created.text).toBe(`Landed: agents/7 is at commit ${head}.`)
    const committed = await ask(client, 'commit', {
      repo,
      branch: 'agents/7',
      message: 'Change much',
      base: head,
      changes: [
        { path: 'a.txt', content: 'two\n' },
        { path: 'bin', content: 'AAE=', encoding: 'base64', mode: '100755' },
        { path: 'dir/new.txt', moveFrom: 'old.txt' },
      ],
      idempotencyKey: 'once',
    })
    expect(committed.facts).toMatchObject({ state: 'landed', parent: head, landing: { commits: 1 } })
    const merged = await ask(client, 'merge', { repo, branch: 'main', source: 'agents/7', expectTip: head })
    expect(merged.text).toContain(`Landed: main is at commit ${merged.facts.commit}, before it at ${head}.`)
    expect((await ask(client, 'get_landing', { repo, branch: 'main', ticket: merged.facts.ticket })).facts).toEqual(
      merged.facts,
    )
    expect((await ask(client, 'read_file', { repo, path: 'a.txt' })).blocks[1]).toBe('two\n')
    const clone = await world.clone(world.at(alice, `flow-${year}`))
    await clone.fsck()
    expect(await clone.resolve('HEAD')).toBe(merged.facts.commit)
    expect(await clone.git('ls-tree', '-r', '--format=%(objectmode) %(path)', 'HEAD')).toBe(
      '100644 a.txt\n100755 bin\n100644 dir/new.txt',
    )
    expect(await clone.git('log', '--format=%s', '--first-parent')).toBe("Merge branch 'agents/7'\nfirst")
  })

  test('a conflict is told with both sides, and the way that the answer names leads on', async () => {
    const { head } = await push('conflict', { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' })
    const { token } = await createToken(world, alice)
    const client = await connect(token)
    const repo = 'alice.test/conflict'
    const commit = (content: string, base: string, more: object = {}) => ({
      ...{ repo, branch: 'main', message: content, base, changes: [{ path: 'a.txt', content }] },
      ...more,
    })
    await ask(client, 'commit', commit('one\nours\n', head))
    const text = await refused(client, 'commit', commit('one\ntheirs\n', head))
    expect(text).toMatch(/^MergeConflict: .*"a\.txt"/)
    expect(text).toContain('Nothing has changed on the branch.')
    expect(text).toMatch(
      /=== a\.txt \(content\)\nboth were made from: blob \w{40}; the branch has: blob \w{40}; yours: blob \w{40}\n/,
    )
    expect(text).toMatch(/\none\n<<<<<<< .*\nours\n=======\ntheirs\n>>>>>>> .*\n/)
    expect(text).toContain('`base`: that tip')
    const tip = /^commit (\w{40})$/m.exec((await ask(client, 'log', { repo, ref: 'main', limit: 1 })).text)![1]!
    await ask(client, 'commit', commit('one\nours and theirs\n', tip))

    const gone = { changes: [{ path: 'b.txt', delete: true }] }
    await ask(client, 'commit', commit('', tip, { ...gone, message: 'gone' }))
    const late = await refused(
      client,
      'commit',
      commit('', tip, { changes: [{ path: 'b.txt', content: 'changed\n' }], message: 'late' }),
    )
    expect(late).toMatch(
      /=== b\.txt \(modify\/delete\)\n.*the branch has: nothing; yours: blob \w{40}\n--- yours:\nchanged\n/,
    )
  })

  test('a merge that conflicts is resolved as the answer says', async () => {
    const { head } = await push('resolve', { 'a.txt': 'one\n' })
    const { token } = await createToken(world, alice)
    const client = await connect(token)
    const repo = 'alice.test/resolve'
    const write = (branch: string, content: string) =>
      ask(client, 'commit', { repo, branch, message: content, changes: [{ path: 'a.txt', content }] })
    await ask(client, 'create_branch', { repo, branch: 'side', from: head })
    await write('side', 'side\n')
    await write('main', 'main\n')
    const text = await refused(client, 'merge', { repo, branch: 'main', source: 'side' })
    expect(text).toMatch(
      /^MergeConflict: [\s\S]*<<<<<<< [\s\S]*On the source branch, commit these files as the branch that is merged into has them/,
    )
    expect(await refused(client, 'merge', { repo, branch: 'main', source: 'side', strategy: 'fast-forward' })).toMatch(
      /^NotFastForward: /,
    )
    await write('side', 'main\n')
    await ask(client, 'merge', { repo, branch: 'main', source: 'side' })
    await write('main', 'both\n')
    const clone = await world.clone(world.at(alice, 'resolve'))
    expect(await clone.git('log', '--format=%s', '--first-parent')).toBe("both\nMerge branch 'side'\nmain\nfirst")
  })

  test('other refusals say what to do', async () => {
    const { work, head } = await push('refusals', { 'a.txt': 'a\n' })
    const { token } = await createToken(world, alice)
    const client = await connect(token)
    const repo = 'alice.test/refusals'
    const commit = (input: object) => ({
      repo,
      branch: 'main',
      message: 'm',
      changes: [{ path: 'a.txt', content: 'b\n' }],
      ...input,
    })
    const blob = await work.resolve('HEAD:a.txt')
    const cases: [tool: string, args: Record<string, unknown>, message: RegExp][] = [
      ['commit', commit({ branch: 'absent' }), /^BranchNotFound: .*\nSee list_branches/],
      ['commit', commit({ branch: '..' }), /^InvalidRequest: /],
      [
        'commit',
        commit({ expect: { 'a.txt': null } }),
        new RegExp(`^UnexpectedContent: .*\nPresent: ${blob}\nNothing landed`),
      ],
      ['commit', commit({ expect: { 'a.txt': 'x' } }), /^InvalidRequest: /],
      [
        'commit',
        commit({ changes: [{ path: 'a.txt', content: 'a\n' }] }),
        /^NothingToCommit: .*\nThe branch has it all/,
      ],
      ['commit', commit({ changes: [{ path: '.git/config', content: '' }] }), /^InvalidChange: .*\nNothing landed/],
      ['commit', commit({ changes: [{ path: 'absent', delete: true }] }), /^InvalidChange: /],
      ['commit', commit({ changes: [{ path: 'x', content: '?', encoding: 'base64' }] }), /^InvalidChange: .*no base64/],
      ['commit', commit({ changes: [{ path: 'x', content: 'x'.repeat(4 * 1024 * 1024 + 1) }] }), /^PayloadTooLarge: /],
      ['commit', commit({ base: '0'.repeat(40) }), /^RevisionNotFound: /],
      ['commit', commit({ base: 'main' }), /\/base/],
      ['create_branch', { repo, branch: 'main' }, /^BranchExists: .*\nNothing was done/],
      ['create_branch', { repo, branch: 'x', from: 'absent' }, /^RevisionNotFound: /],
      ['merge', { repo, branch: 'main', source: head }, /^NothingToCommit: /],
      ['merge', { repo, branch: 'main', source: head, expectTip: '1'.repeat(40) }, /^(TipMoved|NothingToCommit): /],
      ['merge', { repo, branch: 'main', source: head, strategy: 'octopus' }, /\/strategy/],
      ['get_landing', { repo, branch: 'main', ticket: 'x' }, /^TicketNotFound: /],
    ]
    for (const [tool, args, message] of cases) {
      expect([tool, await refused(client, tool, args)]).toEqual([tool, expect.stringMatching(message)])
    }
    expect(await (await world.clone(world.at(alice, 'refusals'))).resolve('HEAD')).toBe(head)
  })

  test('sixteen agents commit to one branch by tools at once', async () => {
    const { head } = await push('many', { 'a.txt': 'a\n' })
    const { token } = await createToken(world, alice)
    const agents = await Promise.all(Array.from({ length: 16 }, () => connect(token)))
    const answers = await Promise.all(
      agents.map((client, i) =>
        ask(client, 'commit', {
          ...{ repo: 'alice.test/many', branch: 'main', message: `${i}`, base: head },
          changes: [{ path: `f${i}`, content: `${i}` }],
        }),
      ),
    )
    expect(new Set(answers.map(({ facts }) => facts.commit)).size).toBe(16)
    const clone = await world.clone(world.at(alice, 'many'))
    expect(await clone.git('rev-list', '--count', 'HEAD')).toBe('17')
  })

  test('the ticket of what is not waited for tells what became of it', async () => {
    await push('ticket', { 'a.txt': 'a\n' })
    const { token } = await createToken(world, alice)
    const client = await connect(token)
    const args = { repo: 'alice.test/ticket', branch: 'main' }
    const changes = [{ path: 'b', content: 'b' }]
    const stored = await ask(client, 'commit', { ...args, message: 'm', changes, wait: false })
    const { ticket } = stored.facts
    if (stored.facts.state === 'waiting')
      expect(stored.text).toContain(`Ask get_landing with branch main and ticket ${ticket}`)
    const state = async () => (await ask(client, 'get_landing', { ...args, ticket })).facts.state
    await expect.poll(state).toBe('landed')
    expect((await ask(client, 'log', { repo: args.repo, limit: 1 })).text).toContain('\n    m')
  })
})

test('/llms.txt tells an agent the edge’s own addresses', async () => {
  const answer = await fetch(`${edge.url}/llms.txt`)
  const text = await answer.text()
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(text).toMatch(/^# Skein\n\n> /)
  expect(text).toContain(`claude mcp add --transport http skein ${edge.url}/mcp`)
  expect(text).not.toContain('undefined')
  // What it says can be read is there.
  await push('guide', { 'README.md': 'hello\n', 'src/a.ts': 'a\n' })
  const commands = [...text.matchAll(/curl (?:-O )?'([^']+)'/g)].map(([, url]) =>
    url!.replaceAll('alice.example/app', 'alice.test/guide'),
  )
  expect(commands.length).toBeGreaterThanOrEqual(6)
  for (const url of commands.map((one) => one.replace('alice.example', 'alice.test'))) {
    expect([url, (await fetch(url)).status]).toEqual([url, 200])
  }
})

import { jsonToLex } from '@atproto/lexicon'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpError } from '../../../workers/http/http-error.ts'
import type { KnownRepository, NewRepository, XrpcDeps } from '../../../workers/xrpc/deps.ts'
import { lexicons } from '../../../workers/xrpc/lexicons.ts'
import { xrpcRouter } from '../../../workers/xrpc/router.ts'
import { ScratchRepository } from '../../git/git.ts'
import { GitRepositoryView } from '../../storage/git-repository-view.ts'
import { NO_GATEWAY } from '../gateway/memory-gateway.ts'
import { NO_TOKENS } from './memory-tokens.ts'
import { NO_INDEX } from './no-index.ts'

const repository = new ScratchRepository({ bare: true })
const empty = new ScratchRepository({ bare: true })
const DID = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
const RKEY = '3lskein000000'
const SUBMODULE = '1'.repeat(40)
let view: GitRepositoryView
let emptyView: GitRepositoryView
let head: string
let oddCommit: string

function commitFiles(files: Record<string, string>, parents: string[], time: number): string {
  const lines = Object.entries(files).map(([path, content]) => `100644 ${repository.store('blob', content)}\t${path}\0`)
  repository.git(['read-tree', '--empty'])
  repository.git(['update-index', '-z', '--index-info'], `${lines.join('')}160000 ${SUBMODULE}\tmodule\0`)
  const date = { GIT_COMMITTER_DATE: `${time} +0130`, GIT_AUTHOR_DATE: `${time} -0700` }
  const tree = repository.text(['write-tree'])
  return repository.text(['commit-tree', tree, ...parents.flatMap((p) => ['-p', p])], `message ${time}\n`, date)
}

beforeAll(() => {
  const files: Record<string, string> = { 'a/b/c.txt': '0', 'a/d.txt': '0', 'e.txt': '0', 'z/y.txt': '0' }
  const first = commitFiles(files, [], 1_700_000_000)
  const second = commitFiles({ ...files, 'a/d.txt': '1' }, [first], 1_700_000_100)
  const third = commitFiles({ ...files, 'e.txt': '2' }, [first], 1_700_000_200)
  head = commitFiles({ ...files, 'a/d.txt': '1', 'e.txt': '2' }, [second, third], 1_700_000_300)
  for (const ref of ['heads/main', 'heads/feature/1', 'heads/deadbeef', 'heads/日本語', 'notes/x']) {
    repository.git(['update-ref', `refs/${ref}`, head])
  }
  repository.git(['tag', '-a', '-m', 'tag', 'v1', head])
  repository.git(['tag', '-a', '-m', 'tag of a tag', 'v1-again', 'v1'])
  repository.git(['tag', 'blob', repository.store('blob', 'a tagged blob')])
  const tree = repository.text(['rev-parse', `${head}^{tree}`])
  oddCommit = repository.store(
    'commit',
    Buffer.from(
      `tree ${tree}\nauthor J\xe9r\xf4me <j@x> 1 --700\ncommitter Nobody\nencoding ISO-8859-1\n\nna\xefve`,
      'latin1',
    ),
  )
  repository.git(['update-ref', 'refs/heads/odd', oddCommit])
  const blob = Buffer.from(repository.store('blob', 'x'), 'hex')
  const oddTree = repository.store('tree', Buffer.concat([Buffer.from('100664 caf\xe9\0', 'latin1'), blob]))
  repository.git(['update-ref', 'refs/tags/odd-tree', oddTree])
  view = new GitRepositoryView(repository, { did: DID, rkey: RKEY, packs: [{ id: 'p', size: 1234, objects: 5 }] })
  emptyView = new GitRepositoryView(empty, { did: DID, rkey: '3lskein000001', name: 'empty' })
})
afterAll(async () => {
  await view[Symbol.asyncDispose]()
  await emptyView[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
  empty[Symbol.dispose]()
})

const account = { did: DID, handle: 'alice.test' }
const record = (name: string) =>
  ({
    name,
    description: 'What it is',
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt: '2026-01-02T03:04:05Z',
  }) as const
const known: KnownRepository[] = [
  { account, rkey: RKEY, record: record('app') },
  { account, rkey: '3lskein000001', record: record('empty') },
]
const created: NewRepository[] = []

const deps: XrpcDeps = {
  ...NO_INDEX,
  ...NO_TOKENS,
  gateway: NO_GATEWAY,
  open: async (reference) => {
    if ('rkey' in reference) return reference.did === DID && reference.rkey === RKEY ? view : null
    if (reference.actor !== 'alice.test' && reference.actor !== DID) return null
    return reference.name === 'app' ? view : reference.name === 'empty' ? emptyView : null
  },
  find: async (reference) =>
    known.find((one) => ('rkey' in reference ? one.rkey === reference.rkey : one.record.name === reference.name)) ??
    null,
  list: async (actor) => (actor === 'alice.test' || actor === DID ? known : null),
  create: async (request, fields) => {
    if (!request.headers.has('Authorization')) {
      throw new HttpError(401, 'AuthenticationRequired', 'sign in', { 'WWW-Authenticate': 'Basic realm="x"' })
    }
    if (fields.name === 'app') throw new HttpError(409, 'RepositoryExists', 'there is one already')
    created.push(fields)
    return { account, rkey: '3lskein000002', record: { ...record(fields.name), ...fields } }
  },
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  const response = await xrpcRouter.fetch(new Request(`https://edge.test/xrpc/${path}`, init), deps)
  return response!
}

function query(nsid: string, params: Record<string, string | number | boolean>, init?: RequestInit): Promise<Response> {
  const search = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, `${value}`]))
  return ask(`${nsid}?${search}`, init)
}

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is checked by its lexicon, and then looked into
type Answer = any

/** Calls a query of the repository, checks the answer by the lexicon, and gives it. */
async function call(nsid: string, params: Record<string, string | number | boolean> = {}): Promise<Answer> {
  const response = await query(nsid, { repo: 'alice.test/app', ...params })
  const body = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
  lexicons.assertValidXrpcOutput(nsid, jsonToLex(body as never))
  return body
}

async function refusal(nsid: string, params: Record<string, string | number | boolean>): Promise<[number, string]> {
  const response = await query(nsid, params)
  const body = (await response.json()) as { error: string; message: string }
  expect(body.message).not.toBe('')
  return [response.status, body.error]
}

const git = (...args: string[]) => repository.text(args)

describe('calls', () => {
  it.each([
    ['unknown.method', {}, 501, 'MethodNotImplemented'],
    ['dev.skein.repo.get', {}, 400, 'InvalidRequest'],
    ['dev.skein.repo.get', { repo: 'app' }, 400, 'InvalidRequest'],
    ['dev.skein.repo.get', { repo: 'alice.test/app/x' }, 400, 'InvalidRequest'],
    ['dev.skein.repo.get', { repo: 'at://alice.test/dev.skein.repo/x' }, 400, 'InvalidRequest'],
    ['dev.skein.repo.get', { repo: 'alice.test/none' }, 404, 'RepositoryNotFound'],
    ['dev.skein.repo.get', { repo: 'bob.test/app' }, 404, 'RepositoryNotFound'],
    ['dev.skein.git.listRefs', { repo: 'alice.test/app', limit: 0 }, 400, 'InvalidRequest'],
    ['dev.skein.git.listRefs', { repo: 'alice.test/app', limit: 1001 }, 400, 'InvalidRequest'],
    ['dev.skein.git.listRefs', { repo: 'alice.test/app', limit: 'x' }, 400, 'InvalidRequest'],
    ['dev.skein.git.getTree', { repo: 'alice.test/app', recursive: 'yes' }, 400, 'InvalidRequest'],
    ['dev.skein.repo.list', { actor: 'not an actor' }, 400, 'InvalidRequest'],
    ['dev.skein.repo.list', { actor: 'bob.test' }, 404, 'ActorNotFound'],
  ])('of %s with %j are refused', async (nsid, params, status, error) => {
    expect(await refusal(nsid, params as Record<string, string>)).toEqual([status, error])
  })

  it('decode their parameters once, and refuse a bad %', async () => {
    expect((await ask('dev.skein.git.listRefs?repo=alice.test%2Fapp')).status).toBe(200)
    expect((await ask('dev.skein.git.listRefs?repo=alice.test%252Fapp')).status).toBe(400)
    expect((await ask('dev.skein.git.listRefs?repo=alice.test/app&prefix=%')).status).toBe(400)
    expect((await ask('dev.skein.git.listRefs?repo=alice.test/app&prefix=%ff')).status).toBe(400)
    expect((await ask('%zz')).status).toBe(400)
  })

  it('keep to their methods', async () => {
    const posted = await query('dev.skein.repo.get', { repo: 'alice.test/app' }, { method: 'POST' })
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect(await posted.json()).toMatchObject({ message: 'this method is called by GET, not POST' })
    const got = await ask('dev.skein.repo.create')
    expect([got.status, got.headers.get('Allow')]).toEqual([405, 'POST'])
    const preflight = await query('dev.skein.repo.get', {}, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('Access-Control-Allow-Origin')]).toEqual([204, '*'])
    expect(await xrpcRouter.fetch(new Request('https://edge.test/alice.test/app'), deps)).toBeUndefined()
  })

  it('that fail say nothing of the inside', async () => {
    const failing = { ...deps, open: () => Promise.reject(new Error('secret')) }
    const response = (await xrpcRouter.fetch(
      new Request('https://edge.test/xrpc/dev.skein.git.listRefs?repo=a/b'),
      failing,
    ))!
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      error: 'InternalServerError',
      message: expect.not.stringContaining('secret'),
    })
  })

  it('by HEAD are answered without a body', async () => {
    const response = await query('dev.skein.git.listRefs', { repo: 'alice.test/app' }, { method: 'HEAD' })
    expect([response.status, response.headers.get('ETag'), await response.text()]).toEqual([
      200,
      expect.any(String),
      '',
    ])
  })

  it.each([
    ['dev.skein.repo.get', {}],
    ['dev.skein.git.listRefs', {}],
    ['dev.skein.git.getTree', { path: 'a' }],
    ['dev.skein.git.getBlob', { path: 'e.txt' }],
    ['dev.skein.git.getCommit', {}],
    ['dev.skein.git.listCommits', {}],
  ])('of %s are answered 304 where the client has the answer', async (nsid, params) => {
    const all = { repo: 'alice.test/app', ...params } as Record<string, string>
    const first = await query(nsid, all)
    expect(first.headers.get('Cache-Control')).toBe('no-cache')
    const again = await query(nsid, all, { headers: { 'If-None-Match': first.headers.get('ETag')! } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it.each([
    ['dev.skein.git.getTree', { path: 'a' }],
    ['dev.skein.git.getBlob', { path: 'e.txt' }],
    ['dev.skein.git.getCommit', {}],
    ['dev.skein.git.listCommits', {}],
  ])('of %s by a full id are answered for good', async (nsid, params) => {
    const response = await query(nsid, { repo: 'alice.test/app', ref: head, ...params } as Record<string, string>)
    expect(response.headers.get('Cache-Control')).toContain('immutable')
  })
})

describe('dev.skein.repo', () => {
  it('get says what a repository is', async () => {
    for (const repo of ['alice.test/app', `${DID}/app`, 'at://alice.test/app', `at://${DID}/dev.skein.repo/${RKEY}`]) {
      expect(await call('dev.skein.repo.get', { repo })).toEqual({
        repository: {
          uri: `at://${DID}/dev.skein.repo/${RKEY}`,
          did: DID,
          handle: 'alice.test',
          name: 'app',
          description: 'What it is',
          defaultBranch: 'main',
          createdAt: '2026-01-02T03:04:05Z',
        },
        head: { name: 'refs/heads/main', target: head },
        cloneUrl: 'https://edge.test/alice.test/app',
        size: 1234,
        objects: 5,
      })
    }
  })

  it('get leaves out the head of an empty repository', async () => {
    expect(await call('dev.skein.repo.get', { repo: 'alice.test/empty' })).not.toHaveProperty('head')
  })

  it('list gives an account page by page', async () => {
    const first = await call('dev.skein.repo.list', { actor: 'alice.test', limit: 1 })
    expect(first.repositories.map((one: Answer) => one.name)).toEqual(['app'])
    const second = await call('dev.skein.repo.list', { actor: DID, limit: 1, cursor: first.cursor })
    expect(second.repositories.map((one: Answer) => one.name)).toEqual(['empty'])
    expect(second.cursor).toBeUndefined()
  })

  const create = (body: unknown, headers: Record<string, string> = {}) =>
    ask('dev.skein.repo.create', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', Authorization: 'Basic YTpi', ...headers },
    })

  it('create makes one', async () => {
    const response = await create({ name: 'new', topics: ['x'] })
    expect(response.status).toBe(200)
    const body = (await response.json()) as Answer
    lexicons.assertValidXrpcOutput('dev.skein.repo.create', body)
    expect(body.repository.uri).toBe(`at://${DID}/dev.skein.repo/3lskein000002`)
    expect(created.at(-1)).toEqual({ name: 'new', topics: ['x'], defaultBranch: 'main' })
  })

  it.each<[string, unknown, Record<string, string>, number, string]>([
    ['a taken name', { name: 'app' }, {}, 409, 'RepositoryExists'],
    ['no name', {}, {}, 400, 'InvalidRequest'],
    ['a name that is none', { name: 'a/b' }, {}, 400, 'InvalidRequest'],
    ['a branch that is none', { name: 'x', defaultBranch: 'a..b' }, {}, 400, 'InvalidRequest'],
    ['a list', [], {}, 400, 'InvalidRequest'],
    ['no JSON', '{', {}, 400, 'InvalidRequest'],
    ['another type', { name: 'x' }, { 'Content-Type': 'text/plain' }, 400, 'InvalidRequest'],
    ['too much', { name: 'x', description: 'x'.repeat(300_000) }, {}, 413, 'PayloadTooLarge'],
  ])('create refuses %s', async (_, body, headers, status, error) => {
    const response = await create(body, headers)
    expect([response.status, ((await response.json()) as Answer).error]).toEqual([status, error])
  })

  it('create asks for credentials', async () => {
    const response = await ask('dev.skein.repo.create', {
      method: 'POST',
      body: '{"name":"x"}',
      headers: { 'Content-Type': 'application/json' },
    })
    expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([401, 'Basic realm="x"'])
  })
})

describe('dev.skein.git.listRefs', () => {
  const all = () => git('for-each-ref', '--format=%(refname)').split('\n')
  const names = (answer: Answer): string[] => answer.refs.map((ref: Answer) => ref.name)

  it('gives all refs with their targets', async () => {
    const answer = await call('dev.skein.git.listRefs')
    expect(names(answer)).toEqual(all())
    const tag = answer.refs.find((ref: Answer) => ref.name === 'refs/tags/v1-again')
    expect(tag).toEqual({
      name: 'refs/tags/v1-again',
      target: git('rev-parse', 'v1-again'),
      peeled: expect.any(String),
    })
  })

  it('gives those with a prefix, page by page', async () => {
    for (const prefix of ['refs/tags/', 'refs/heads/', 'refs/heads/日', 'refs/heads/feature', 'refs/none/']) {
      const found: string[] = []
      let cursor: string | undefined
      do {
        const answer = await call('dev.skein.git.listRefs', {
          prefix,
          limit: 2,
          ...(cursor === undefined ? {} : { cursor }),
        })
        found.push(...names(answer))
        cursor = answer.cursor
      } while (cursor !== undefined)
      expect(found).toEqual(all().filter((name) => name.startsWith(prefix)))
    }
  })

  it('gives none of an empty repository', async () => {
    expect(await call('dev.skein.git.listRefs', { repo: 'alice.test/empty' })).toEqual({ refs: [] })
  })
})

describe('revisions', () => {
  it.each([
    'HEAD',
    'main',
    'heads/main',
    'refs/heads/main',
    'feature/1',
    '日本語',
    'v1',
    'v1-again',
    'deadbeef',
    'notes/x',
  ])('are found by the name %s', async (ref) => {
    expect((await call('dev.skein.git.getCommit', { ref })).commit.oid).toBe(head)
  })

  it('are found by whole and abbreviated ids, in either case', async () => {
    const tag = git('rev-parse', 'v1')
    for (const ref of [head, head.toUpperCase(), head.slice(0, 12), tag, tag.slice(0, 12)]) {
      expect((await call('dev.skein.git.getCommit', { ref })).commit.oid).toBe(head)
    }
  })

  it('are told to be ambiguous, unless only one is of the wanted type', async () => {
    const blobs = Array.from({ length: 2000 }, (_, i) => `blob\nmark :${i + 1}\ndata 8\n${`${i}`.padStart(8)}\n`).join(
      '',
    )
    repository.git(['fast-import', '--quiet', '--force'], blobs)
    const oids = git('cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)').split('\n')
    const blobPrefixes = oids.filter((line) => line.endsWith('blob')).map((line) => line.slice(0, 4))
    const commits = oids.filter((line) => line.endsWith('commit')).map((line) => line.slice(0, 40))
    const shared = blobPrefixes.find(
      (prefix, i) => blobPrefixes[i + 1] === prefix && !commits.some((oid) => oid.startsWith(prefix)),
    )!
    expect(await refusal('dev.skein.git.getBlob', { repo: 'alice.test/app', oid: shared })).toEqual([
      400,
      'AmbiguousRevision',
    ])
    const clash = commits.find((oid) => blobPrefixes.includes(oid.slice(0, 4)))
    if (clash !== undefined) {
      expect((await call('dev.skein.git.getCommit', { ref: clash.slice(0, 4) })).commit.oid).toBe(clash)
    }
  })

  it.each([
    ['nothing', 'RevisionNotFound'],
    ['abc', 'RevisionNotFound'],
    ['00000', 'RevisionNotFound'],
    ['0'.repeat(40), 'RevisionNotFound'],
    ['blob', 'RevisionNotFound'],
  ])('that are none are refused: %s', async (ref, error) => {
    expect(await refusal('dev.skein.git.getCommit', { repo: 'alice.test/app', ref })).toEqual([404, error])
  })

  it('of an empty repository name the branch that is missing', async () => {
    const response = await query('dev.skein.git.getCommit', { repo: 'alice.test/empty' })
    expect(await response.json()).toEqual({
      error: 'RevisionNotFound',
      message: expect.stringContaining('main, does not exist yet'),
    })
  })
})

describe('dev.skein.git.getTree', () => {
  const lines = (answer: Answer) => answer.entries.map((e: Answer) => `${e.mode} ${e.type} ${e.oid}\t${e.path}`)

  it.each([
    ['', ''],
    ['a', 'a'],
    ['a/b/', 'a/b'],
  ])('lists the directory %j as git does', async (path, plain) => {
    const answer = await call('dev.skein.git.getTree', { path })
    expect(lines(answer)).toEqual(git('ls-tree', `${head}:${plain}`).split('\n'))
    expect(answer).toMatchObject({ commit: head, tree: git('rev-parse', `${head}:${plain}`) })
  })

  it('lists what is below too, page by page', async () => {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const answer = await call('dev.skein.git.getTree', {
        recursive: true,
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      })
      expect(answer.entries.length).toBeLessThanOrEqual(3)
      found.push(...lines(answer))
      cursor = answer.cursor
    } while (cursor !== undefined)
    expect(found).toEqual(git('ls-tree', '-r', '-t', head).split('\n'))
  })

  it('takes the id of a tree, and shows names that are no UTF-8 with their bytes', async () => {
    const tree = git('rev-parse', 'odd-tree')
    for (const ref of ['odd-tree', tree]) {
      const answer = await call('dev.skein.git.getTree', { ref })
      expect(answer).not.toHaveProperty('commit')
      expect(answer.tree).toBe(tree)
      expect(answer.entries).toEqual([
        {
          path: 'café',
          pathBytes: { $bytes: Buffer.from('caf\xe9', 'latin1').toString('base64').replace(/=+$/, '') },
          mode: '100644',
          type: 'blob',
          oid: expect.any(String),
        },
      ])
    }
  })

  it.each([
    [{ path: 'none' }, 404, 'PathNotFound'],
    [{ path: 'e.txt' }, 404, 'PathNotFound'],
    [{ path: 'module' }, 404, 'PathNotFound'],
    [{ cursor: 'bm9uZQ' }, 400, 'InvalidRequest'],
    [{ cursor: '!' }, 400, 'InvalidRequest'],
    [{ ref: 'blob' }, 404, 'RevisionNotFound'],
  ])('refuses %j', async (params, status, error) => {
    expect(
      await refusal('dev.skein.git.getTree', { repo: 'alice.test/app', ...params } as Record<string, string>),
    ).toEqual([status, error])
  })
})

describe('dev.skein.git.getBlob', () => {
  it('gives a file by path, and a blob by id', async () => {
    const byPath = await query('dev.skein.git.getBlob', { repo: 'alice.test/app', path: 'a/d.txt' })
    expect([byPath.status, await byPath.text()]).toEqual([200, '1'])
    const oid = git('rev-parse', `${head}:a/d.txt`)
    const byId = await query('dev.skein.git.getBlob', { repo: 'alice.test/app', oid })
    expect([await byId.text(), byId.headers.get('ETag')]).toEqual(['1', `"${oid}"`])
    expect(byId.headers.get('Cache-Control')).toContain('immutable')
    const tagged = await query('dev.skein.git.getBlob', {
      repo: 'alice.test/app',
      oid: git('rev-parse', 'blob').slice(0, 10),
    })
    expect([await tagged.text(), tagged.headers.get('Cache-Control')]).toEqual(['a tagged blob', 'no-cache'])
  })

  it('gives ranges', async () => {
    const oid = git('rev-parse', 'blob')
    const response = await query(
      'dev.skein.git.getBlob',
      { repo: 'alice.test/app', oid },
      { headers: { Range: 'bytes=2-7' } },
    )
    expect([response.status, response.headers.get('Content-Range'), await response.text()]).toEqual([
      206,
      'bytes 2-7/13',
      'tagged',
    ])
  })

  it.each([
    [{}, 400, 'InvalidRequest'],
    [{ path: 'e.txt', oid: 'abcd' }, 400, 'InvalidRequest'],
    [{ path: 'a' }, 404, 'PathNotFound'],
    [{ path: 'module' }, 404, 'PathNotFound'],
    [{ path: 'none' }, 404, 'PathNotFound'],
    [{ oid: '0'.repeat(40) }, 404, 'RevisionNotFound'],
  ])('refuses %j', async (params, status, error) => {
    expect(
      await refusal('dev.skein.git.getBlob', { repo: 'alice.test/app', ...params } as Record<string, string>),
    ).toEqual([status, error])
  })

  it('refuses a commit', async () => {
    expect(await refusal('dev.skein.git.getBlob', { repo: 'alice.test/app', oid: head })).toEqual([
      404,
      'RevisionNotFound',
    ])
  })
})

describe('dev.skein.git.getCommit', () => {
  it('gives a commit', async () => {
    expect((await call('dev.skein.git.getCommit')).commit).toEqual({
      oid: head,
      tree: git('rev-parse', `${head}^{tree}`),
      parents: git('rev-parse', `${head}^1`, `${head}^2`).split('\n'),
      author: { name: 'A U Thor', email: 'author@example.com', time: 1_700_000_300, zone: '-0700' },
      committer: { name: 'C O Mitter', email: 'committer@example.com', time: 1_700_000_300, zone: '+0130' },
      message: 'message 1700000300\n',
    })
  })

  it('shows an odd one as far as it goes', async () => {
    expect((await call('dev.skein.git.getCommit', { ref: 'odd' })).commit).toEqual({
      oid: oddCommit,
      tree: git('rev-parse', `${head}^{tree}`),
      parents: [],
      author: { name: 'Jérôme', email: 'j@x', time: 1, zone: '--700' },
      committer: { name: 'Nobody', email: '' },
      message: 'naïve',
      encoding: 'ISO-8859-1',
    })
  })
})

describe('dev.skein.git.listCommits', () => {
  async function list(params: Record<string, string | number>): Promise<string[]> {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const answer = await call('dev.skein.git.listCommits', { ...params, ...(cursor === undefined ? {} : { cursor }) })
      found.push(...answer.commits.map((commit: Answer) => commit.oid))
      cursor = answer.cursor
    } while (cursor !== undefined)
    return found
  }

  it.each([1, 2, 50])('lists a history as git log does, %i a page', async (limit) => {
    expect(await list({ limit })).toEqual(git('log', '--format=%H', head).split('\n'))
    for (const path of ['a', 'a/d.txt', 'e.txt', 'z/y.txt', 'none']) {
      expect(await list({ limit, path })).toEqual(
        git('log', '--format=%H', head, '--', path).split('\n').filter(Boolean),
      )
    }
  })

  it.each(['!', 'AAAA', Buffer.alloc(20).toString('base64url')])('refuses the cursor %s', async (cursor) => {
    expect(await refusal('dev.skein.git.listCommits', { repo: 'alice.test/app', cursor })).toEqual([
      400,
      'InvalidRequest',
    ])
  })
})

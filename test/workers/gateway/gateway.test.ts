import { jsonToLex } from '@atproto/lexicon'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type {
  CommitWork,
  PathConflict,
  RefusedWork,
  Submission,
} from '../../../durable-objects/branch-queue/answers.ts'
import { COMMIT_LIMITS } from '../../../durable-objects/branch-queue/limits.ts'
import type { XrpcDeps } from '../../../workers/xrpc/deps.ts'
import { lexicons } from '../../../workers/xrpc/lexicons.ts'
import { xrpcRouter } from '../../../workers/xrpc/router.ts'
import { ScratchRepository } from '../../git/git.ts'
import { GitRepositoryView } from '../../storage/git-repository-view.ts'
import { NO_TOKENS } from '../xrpc/memory-tokens.ts'
import { NO_INDEX } from '../xrpc/no-index.ts'
import { ALICE, landed, MemoryGateway, RKEY, TICKET } from './memory-gateway.ts'

const REPO = 'alice.test/app'
const OID = 'a'.repeat(40)
const repository = new ScratchRepository({ bare: true })
let view: GitRepositoryView
let base: string
let main: string
let feature: string
let clash: string

function commitFiles(files: Record<string, string>, ...parents: string[]): string {
  const lines = Object.entries(files).map(([path, content]) => `100644 ${repository.store('blob', content)}\t${path}\0`)
  repository.git(['read-tree', '--empty'])
  repository.git(['update-index', '-z', '--index-info'], lines.join(''))
  const tree = repository.text(['write-tree'])
  return repository.text(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])], 'message\n')
}

beforeAll(() => {
  base = commitFiles({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' })
  main = commitFiles({ 'a.txt': 'ONE\ntwo\nthree\n', 'b.txt': 'b\n' }, base)
  feature = commitFiles({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', 'dir/c.txt': 'c\n' }, base)
  clash = commitFiles({ 'a.txt': 'uno\ntwo\nthree\n', 'b.txt': 'b\n' }, base)
  for (const [ref, target] of Object.entries({ main, 'feature/1': feature, clash, behind: base })) {
    repository.git(['update-ref', `refs/heads/${ref}`, target])
  }
  repository.git(['tag', '-a', '-m', 'tag', 'v1', feature])
  repository.git(['update-ref', 'refs/tags/tree', repository.text(['rev-parse', `${main}^{tree}`])])
  view = new GitRepositoryView(repository, { did: ALICE.did, rkey: RKEY })
})
afterAll(async () => {
  await view[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

let gateway: MemoryGateway
beforeEach(() => {
  gateway = new MemoryGateway(async () => view)
})

const notHere = () => Promise.reject(new Error('not in this test'))

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is checked by its lexicon, and then looked into
type Answer = any

async function send(request: Request): Promise<Response> {
  const deps: XrpcDeps = {
    ...NO_INDEX,
    ...NO_TOKENS,
    open: async (reference) => ('name' in reference && reference.name === 'app' ? view : null),
    find: notHere,
    list: notHere,
    create: notHere,
    gateway,
  }
  return (await xrpcRouter.fetch(request, deps))!
}

const nsid = (method: string) => `dev.skein.gateway.${method}`

function post(method: string, body: string, credentials: string | null = 'token'): Promise<Response> {
  const headers = {
    'Content-Type': 'application/json',
    ...(credentials === null ? {} : { Authorization: credentials }),
  }
  return send(new Request(`https://edge.test/xrpc/${nsid(method)}`, { method: 'POST', headers, body }))
}

function get(method: string, params: Record<string, string>, credentials: string | null = null): Promise<Response> {
  const headers: Record<string, string> = credentials === null ? {} : { Authorization: credentials }
  return send(new Request(`https://edge.test/xrpc/${nsid(method)}?${new URLSearchParams(params)}`, { headers }))
}

async function answered(method: string, response: Response): Promise<Answer> {
  const body = await response.json()
  expect([200, 202], JSON.stringify(body)).toContain(response.status)
  lexicons.assertValidXrpcOutput(nsid(method), jsonToLex(body as never))
  return body
}

async function refused(response: Response): Promise<{ status: number } & Answer> {
  const body = (await response.json()) as Answer
  expect(body.message).toMatch(/^\S.*\S$/)
  return { status: response.status, ...body }
}

const valid = { repo: REPO, branch: 'main', message: 'Change a', changes: [{ path: 'a.txt', content: 'a' }] }
const commit = (input: object, credentials?: string | null) =>
  post('commit', JSON.stringify({ ...valid, ...input }), credentials)

async function committed(input: object): Promise<{ work: CommitWork; submission: Submission }> {
  await answered('commit', await commit(input))
  const submission = gateway.submitted.at(-1)!
  return { work: submission.work as CommitWork, submission }
}

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)

describe('a commit', () => {
  it('is handed in at the queue of its branch, and its landing answered', async () => {
    const response = await commit({ base: OID.toUpperCase(), expect: { 'a.txt': OID, 'b/c': null } })
    expect(await answered('commit', response)).toEqual({
      ticket: TICKET,
      ...landed(),
    })
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(gateway.submitted).toEqual([
      {
        address: { did: ALICE.did, rkey: RKEY, pds: ALICE.pds, ref: 'refs/heads/main' },
        work: {
          kind: 'commit',
          message: 'Change a',
          author: { name: 'Agent 7', email: expect.stringContaining('@users.noreply.edge.test') },
          edits: [{ kind: 'write', path: Buffer.from('a.txt'), content: Buffer.from('a') }].map((edit) => ({
            ...edit,
            path: new Uint8Array(edit.path),
            content: new Uint8Array(edit.content),
          })),
          base: OID,
          expect: [
            { path: new TextEncoder().encode('a.txt'), oid: OID },
            { path: new TextEncoder().encode('b/c'), oid: null },
          ],
        },
        submitter: { did: ALICE.did, tokenId: 'token-1', tokenLabel: 'Agent 7' },
        idempotencyKey: null,
        waitMilliseconds: 30_000,
      },
    ])
  })

  it('writes text and base64, deletes, moves, and changes modes', async () => {
    const changes = [
      { path: 'text', content: 'ä\n', mode: '100755' },
      { path: 'empty', content: '' },
      { path: 'bytes', content: 'AP/+', encoding: 'base64' },
      { path: 'wrapped', content: 'AP\r\n/+\n', encoding: 'base64' },
      { path: 'unfilled', content: 'AP8', encoding: 'base64' },
      { path: 'filled', content: 'AP8=', encoding: 'base64' },
      { path: 'nothing', content: '', encoding: 'base64' },
      { path: 'gone', delete: true },
      { path: 'kept', content: 'x', delete: false },
      { path: 'moved', moveFrom: 'old/place' },
      { path: 'moved too', moveFrom: 'place', content: 'new', mode: '100644' },
      { path: 'mode', mode: '120000' },
    ]
    const { work } = await committed({ changes })
    const shown = work.edits.map((edit) => ({
      ...edit,
      path: text(edit.path),
      ...('from' in edit ? { from: text(edit.from) } : {}),
      ...('content' in edit ? { content: Buffer.from(edit.content!).toString('latin1') } : {}),
    }))
    expect(shown).toEqual([
      { kind: 'write', path: 'text', content: 'Ã¤\n', mode: 0o100755 },
      { kind: 'write', path: 'empty', content: '' },
      { kind: 'write', path: 'bytes', content: '\0\xff\xfe' },
      { kind: 'write', path: 'wrapped', content: '\0\xff\xfe' },
      { kind: 'write', path: 'unfilled', content: '\0\xff' },
      { kind: 'write', path: 'filled', content: '\0\xff' },
      { kind: 'write', path: 'nothing', content: '' },
      { kind: 'delete', path: 'gone' },
      { kind: 'write', path: 'kept', content: 'x' },
      { kind: 'move', path: 'moved', from: 'old/place' },
      { kind: 'move', path: 'moved too', from: 'place', content: 'new', mode: 0o100644 },
      { kind: 'mode', path: 'mode', mode: 0o120000 },
    ])
  })

  it('names the author that it gives, and otherwise the caller', async () => {
    expect((await committed({ author: { name: 'Ada', email: 'ada@example.com' } })).work.author).toEqual({
      name: 'Ada',
      email: 'ada@example.com',
    })
    expect((await committed({ author: { email: 'ada@example.com' } })).work.author.name).toBe('Agent 7')
  })

  it('may be large, in one file after the other', async () => {
    const file = 'x'.repeat(COMMIT_LIMITS.fileBytes)
    const { work } = await committed({
      changes: [
        { path: 'a', content: file },
        { path: 'b', content: Buffer.from(file).toString('base64'), encoding: 'base64' },
      ],
    })
    expect(work.edits.map((edit) => 'content' in edit && edit.content?.length)).toEqual([4_194_304, 4_194_304])
  })

  it('goes with its key, and waits only if it is to', async () => {
    gateway.answer = {
      accepted: true,
      ticket: TICKET,
      work: { state: 'waiting', ahead: 4, reason: 'the account does not answer', retryAfterSeconds: 7 },
    }
    const response = await commit({ idempotencyKey: 'key 1', wait: false })
    expect([response.status, response.headers.get('Retry-After')]).toEqual([202, '7'])
    expect(await answered('commit', response)).toEqual({
      ticket: TICKET,
      state: 'waiting',
      ahead: 4,
      reason: 'the account does not answer',
      retryAfterSeconds: 7,
    })
    expect(gateway.submitted[0]).toMatchObject({ idempotencyKey: 'key 1', waitMilliseconds: 0 })
  })

  it('is known again by what was asked for, however it is waited for', async () => {
    const key = 'k'
    const asked = async (input: object) => (await committed({ idempotencyKey: key, ...input })).submission.asked
    const first = await asked({})
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(await asked({ wait: false })).toBe(first)
    expect(await asked({ message: 'Another' })).not.toBe(first)
    gateway.branches = []
    gateway.before = gateway.answer
    expect((await commit({ idempotencyKey: key, branch: 'gone' })).status).toBe(200)
    expect(gateway.repeated).toEqual([
      { submitter: expect.anything(), waitMilliseconds: 30_000, idempotencyKey: key, asked: first },
    ])
    gateway.before = null
    expect(await refused(await commit({ idempotencyKey: key, branch: 'gone' }))).toMatchObject({
      status: 404,
      error: 'BranchNotFound',
    })
    expect(gateway.submitted).toHaveLength(3)
  })

  it('begins the default branch, and goes to another only if that is there or nobody knows', async () => {
    gateway.branches = []
    await committed({ branch: 'refs/heads/main' })
    expect(await refused(await commit({ branch: 'other' }))).toMatchObject({ status: 404, error: 'BranchNotFound' })
    gateway.branches = null
    expect((await committed({ branch: 'other' })).submission.address.ref).toBe('refs/heads/other')
    expect(gateway.submitted).toHaveLength(2)
  })

  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ path: `f${i}`, content: '' }))
  it.each<[string, object, number, string]>([
    ['no repository', { repo: undefined }, 400, 'InvalidRequest'],
    ['a name that is none', { repo: 'app' }, 400, 'InvalidRequest'],
    ['an unknown repository', { repo: 'alice.test/none' }, 404, 'RepositoryNotFound'],
    ['a branch that is none', { branch: 'a..b' }, 400, 'InvalidRequest'],
    ['a branch with half a character', { branch: 'a\ud800' }, 400, 'InvalidRequest'],
    ['a tag', { branch: 'refs/tags/v1' }, 404, 'BranchNotFound'],
    ['no message', { message: undefined }, 400, 'InvalidRequest'],
    ['an empty message', { message: '' }, 400, 'InvalidRequest'],
    ['a blank message', { message: ' \n' }, 400, 'InvalidRequest'],
    ['NUL in the message', { message: 'a\0b' }, 400, 'InvalidRequest'],
    ['half a character in the message', { message: 'a\ud800' }, 400, 'InvalidRequest'],
    ['a long message', { message: 'ä'.repeat(COMMIT_LIMITS.messageBytes / 2 + 1) }, 400, 'InvalidRequest'],
    ['an author of two lines', { author: { name: 'a\nb' } }, 400, 'InvalidRequest'],
    ['an address with a bracket', { author: { email: 'a>b' } }, 400, 'InvalidRequest'],
    ['a blank author', { author: { name: ' ' } }, 400, 'InvalidRequest'],
    ['an author that is a text', { author: 'Ada' }, 400, 'InvalidRequest'],
    ['no changes', { changes: undefined }, 400, 'InvalidRequest'],
    ['an empty list', { changes: [] }, 400, 'InvalidRequest'],
    ['too many changes', { changes: many(COMMIT_LIMITS.changes + 1) }, 400, 'InvalidRequest'],
    ['changes that are none', { changes: ['a.txt'] }, 400, 'InvalidRequest'],
    ['content that is no text', { changes: [{ path: 'a', content: 1 }] }, 400, 'InvalidRequest'],
    ['an encoding nobody knows', { changes: [{ path: 'a', content: '', encoding: 'hex' }] }, 400, 'InvalidRequest'],
    ['the mode of a directory', { changes: [{ path: 'a', content: '', mode: '040000' }] }, 400, 'InvalidRequest'],
    ['a base that is no id', { base: 'main' }, 400, 'InvalidRequest'],
    ['a base of other signs', { base: 'g'.repeat(40) }, 400, 'InvalidRequest'],
    ['a list of expectations', { expect: [['a', null]] }, 400, 'InvalidRequest'],
    ['an expectation that is a number', { expect: { a: 1 } }, 400, 'InvalidRequest'],
    ['an expected id that is none', { expect: { a: 'abc' } }, 400, 'InvalidRequest'],
    [
      'too many expectations',
      { expect: Object.fromEntries(many(1001).map(({ path }) => [path, null])) },
      400,
      'InvalidRequest',
    ],
    ['an empty key', { idempotencyKey: '' }, 400, 'InvalidRequest'],
    ['a long key', { idempotencyKey: 'k'.repeat(257) }, 400, 'InvalidRequest'],
    ['a wait that is a number', { wait: 5 }, 400, 'InvalidRequest'],
    [
      'content over the limit',
      { changes: [1, 2, 3].map((n) => ({ path: `${n}`, content: 'x'.repeat(2_900_000) })) },
      413,
      'PayloadTooLarge',
    ],
    ['a file over the limit', { changes: [{ path: 'a', content: 'x'.repeat(4_194_305) }] }, 413, 'PayloadTooLarge'],
    ['a body over the limit', { changes: [{ path: 'a', content: 'x'.repeat(14_000_000) }] }, 413, 'PayloadTooLarge'],
  ])('with %s is refused, and nothing is handed in', async (_, input, status, error) => {
    expect(await refused(await commit(input))).toMatchObject({ status, error })
    expect(gateway.submitted).toEqual([])
  })

  it.each<[string, object[], string?]>([
    ['nothing to do', [{ path: 'a' }]],
    ['delete: false alone', [{ path: 'a', delete: false }]],
    ['deletion and content', [{ path: 'a', delete: true, content: '' }]],
    ['deletion and a move', [{ path: 'a', delete: true, moveFrom: 'b' }]],
    ['content that is no base64', [{ path: 'a', content: 'a-b_', encoding: 'base64' }]],
    ['base64 of one digit', [{ path: 'a', content: 'AAAAA', encoding: 'base64' }]],
    ['base64 with signs to fill that are too many', [{ path: 'a', content: 'AAAA=', encoding: 'base64' }]],
    ['base64 that goes on behind its end', [{ path: 'a', content: 'AA==AAAA', encoding: 'base64' }]],
    ['half a character', [{ path: 'a', content: '\ud800' }]],
    ['an empty path', [{ path: '', content: '' }], ''],
    ['..', [{ path: '../a', content: '' }], '../a'],
    ['.', [{ path: './a', content: '' }], './a'],
    ['.git', [{ path: 'a/.git/config', content: '' }], 'a/.git/config'],
    ['.git as others have it', [{ path: 'GIT~1/config', content: '' }], 'GIT~1/config'],
    ['a slash at the start', [{ path: '/a', content: '' }], '/a'],
    ['a slash at the end', [{ path: 'a/', content: '' }], 'a/'],
    ['two slashes', [{ path: 'a//b', content: '' }], 'a//b'],
    ['NUL', [{ path: 'a\0b', content: '' }], 'a\0b'],
    ['a long path', [{ path: `${'a/'.repeat(2048)}a`, content: '' }]],
    ['a long name', [{ path: 'a'.repeat(256), content: '' }]],
    ['half a character in the path', [{ path: 'a\ud800', content: '' }], 'a\ufffd'],
    ['a source that is no path', [{ path: 'a', moveFrom: 'b/' }], 'b/'],
    ['.gitmodules as a link', [{ path: '.gitmodules', content: 'x', mode: '120000' }], '.gitmodules'],
    [
      'one path twice',
      [
        { path: 'a', content: '' },
        { path: 'a', delete: true },
      ],
      'a',
    ],
    [
      'one source twice',
      [
        { path: 'a', moveFrom: 'c' },
        { path: 'b', moveFrom: 'c' },
      ],
      'c',
    ],
  ])(
    'with a change that has %s is refused with its path',
    async (_, changes, path = 'path' in changes[0]! ? `${changes[0].path}` : '') => {
      expect(await refused(await commit({ changes }))).toMatchObject({ status: 422, error: 'InvalidChange', path })
      expect(gateway.submitted).toEqual([])
    },
  )

  it.each([
    ['', 'application/json', 400],
    ['{', 'application/json', 400],
    ['null', 'application/json', 400],
    ['[]', 'application/json', 400],
    ['"text"', 'application/json', 400],
    [JSON.stringify(valid), 'text/plain', 400],
  ])('is not read from %j as %s', async (body, type, status) => {
    const headers = { 'Content-Type': type, Authorization: 'token' }
    const request = new Request(`https://edge.test/xrpc/${nsid('commit')}`, { method: 'POST', headers, body })
    expect(await refused(await send(request))).toMatchObject({ status, error: 'InvalidRequest' })
    expect(gateway.submitted).toEqual([])
  })

  it('takes paths that objects have of themselves', async () => {
    const body = `{"repo":"${REPO}","branch":"main","message":"m","changes":[{"path":"__proto__","content":""}],"expect":{"__proto__":null,"constructor":null}}`
    await answered('commit', await post('commit', body))
    const work = gateway.submitted[0]!.work as CommitWork
    expect(work.expect.map(({ path }) => text(path))).toEqual(['__proto__', 'constructor'])
  })
})

describe('rights', () => {
  const grant = (rights: readonly ('read' | 'commit' | 'branch' | 'merge')[], branches: string[] | null = null) => {
    gateway.grant = { repositories: [RKEY], branches, rights }
  }
  const calls: Record<string, [method: string, input: object]> = {
    commit: ['commit', valid],
    createBranch: ['createBranch', { repo: REPO, branch: 'new' }],
    deleteBranch: ['deleteBranch', { repo: REPO, branch: 'feature/1' }],
    merge: ['merge', { repo: REPO, branch: 'main', source: 'feature/1' }],
  }
  const call = ([method, input]: [string, object], credentials?: string | null) =>
    post(method, JSON.stringify(input), credentials)

  it.each(Object.values(calls))('nobody may %s without credentials', async (method, input) => {
    expect(await refused(await call([method, input], null))).toMatchObject({
      status: 401,
      error: 'AuthenticationRequired',
    })
    expect(gateway.submitted).toEqual([])
  })

  it.each([
    ['commit', 'commit'],
    ['branch', 'createBranch'],
    ['branch', 'deleteBranch'],
    ['merge', 'merge'],
  ] as const)('a token with the right to %s may %s, and one without may not', async (right, method) => {
    grant([right])
    await answered(method, await call(calls[method]!))
    grant((['read', 'commit', 'branch', 'merge'] as const).filter((other) => other !== right))
    expect(await refused(await call(calls[method]!))).toMatchObject({ status: 403, error: 'Forbidden' })
    expect(gateway.submitted).toHaveLength(1)
  })

  it('may be for some branches', async () => {
    grant(['commit'], ['agents/*'])
    gateway.branches = ['refs/heads/agents/7']
    await committed({ branch: 'agents/7' })
    expect(await refused(await commit({}))).toMatchObject({ status: 403, error: 'Forbidden' })
  })
})

describe('what the queue says', () => {
  const conflict = (path: string, fields: Partial<PathConflict>): PathConflict => ({
    path: Buffer.from(path, 'latin1'),
    kind: 'content',
    base: null,
    ours: null,
    theirs: null,
    merged: null,
    ...fields,
  })
  const refusals: [RefusedWork, number, string, object][] = [
    [
      { reason: 'unexpected', message: 'm', path: Buffer.from('a'), present: OID },
      409,
      'UnexpectedContent',
      { path: 'a', present: OID },
    ],
    [
      { reason: 'unexpected', message: 'm', path: Buffer.from('caf\xe9', 'latin1'), present: null },
      409,
      'UnexpectedContent',
      { path: 'café', pathBytes: { $bytes: 'Y2Fm6Q' }, present: null },
    ],
    [{ reason: 'tip-moved', message: 'm', present: OID }, 409, 'TipMoved', { present: OID }],
    [{ reason: 'branch-missing', message: 'm' }, 404, 'BranchNotFound', {}],
    [{ reason: 'branch-exists', message: 'm' }, 409, 'BranchExists', {}],
    [{ reason: 'not-fast-forward', message: 'm' }, 409, 'NotFastForward', {}],
    [{ reason: 'unknown-commit', message: 'm' }, 404, 'RevisionNotFound', {}],
    [{ reason: 'invalid-change', message: 'm', path: Buffer.from('a') }, 422, 'InvalidChange', { path: 'a' }],
    [{ reason: 'nothing-to-do', message: 'm' }, 422, 'NothingToCommit', {}],
    [{ reason: 'too-large', message: 'm' }, 422, 'TooLarge', {}],
    [{ reason: 'damaged', message: 'm' }, 422, 'UnreadableObject', {}],
    [{ reason: 'account-refused', message: 'm' }, 403, 'AccountRefused', {}],
    [{ reason: 'withdrawn', message: 'm' }, 403, 'Forbidden', {}],
    [{ reason: 'fault', message: 'm' }, 500, 'InternalServerError', {}],
  ]
  it.each(refusals)('%j is an error with its name, now and later', async (refusal, status, error, details) => {
    const body = { error, message: 'm', ...details }
    gateway.answer = { accepted: true, ticket: TICKET, work: { state: 'refused', refusal } }
    const now = await commit({})
    expect([now.status, await now.json()]).toEqual([status, body])
    gateway.later = { state: 'refused', refusal }
    const later = await get('getLanding', { repo: REPO, branch: 'main', ticket: TICKET }, 'token')
    expect([later.status, await later.json()]).toEqual([status, body])
  })

  it('of conflicts has both sides, also the one that is stored nowhere', async () => {
    const [stored] = [repository.store('blob', 'ours\n'), repository.store('blob', 'other')]
    const binary = repository.store('blob', Buffer.from([1, 0, 2]))
    const large = repository.store('blob', 'x'.repeat(64 * 1024 + 1))
    const mine = repository.text(['hash-object', '--stdin'], 'my side')
    const tree = repository.text(['rev-parse', `${main}^{tree}`])
    const conflicts = [
      conflict('a.txt', { base: OID, ours: stored, theirs: mine, merged: Buffer.from('<<<<<<< main\n') }),
      conflict('caf\xe9', { kind: 'binary', base: null, ours: binary, theirs: large }),
      conflict('dir', { kind: 'file/directory', ours: tree, theirs: mine, merged: Buffer.from([0xff]) }),
    ]
    gateway.answer = {
      accepted: true,
      ticket: TICKET,
      work: { state: 'refused', refusal: { reason: 'merge-conflict', message: 'it conflicts', conflicts } },
    }
    const response = await commit({ changes: [{ path: 'a.txt', content: 'my side' }] })
    expect(await refused(response)).toEqual({
      status: 409,
      error: 'MergeConflict',
      message: 'it conflicts',
      conflicts: [
        {
          path: 'a.txt',
          kind: 'content',
          base: { oid: OID },
          ours: { oid: stored, text: 'ours\n' },
          theirs: { oid: mine, text: 'my side' },
          merged: '<<<<<<< main\n',
        },
        {
          path: 'café',
          pathBytes: { $bytes: 'Y2Fm6Q' },
          kind: 'binary',
          ours: { oid: binary },
          theirs: { oid: large },
        },
        { path: 'dir', kind: 'file/directory', ours: { oid: tree }, theirs: { oid: mine, text: 'my side' } },
      ],
    })
  })

  it('of conflicts is told also where the repository cannot be read', async () => {
    gateway = new MemoryGateway(notHere)
    const refusal = {
      reason: 'merge-conflict',
      message: 'it conflicts',
      conflicts: [conflict('a', { ours: OID })],
    } as const
    gateway.answer = { accepted: true, ticket: TICKET, work: { state: 'refused', refusal } }
    expect(await refused(await commit({}))).toMatchObject({ conflicts: [{ path: 'a', ours: { oid: OID } }] })
  })

  it.each([
    ['queue-full', 429, 'QueueFull', '5'],
    ['rate-limited', 429, 'RateLimitExceeded', '5'],
    ['key-reused', 422, 'IdempotencyKeyReused', null],
  ] as const)('%s is %i %s', async (reason, status, error, retryAfter) => {
    gateway.answer = {
      accepted: false,
      reason,
      message: 'in words',
      retryAfterSeconds: reason === 'key-reused' ? null : 5,
    }
    const response = await commit({})
    expect(response.headers.get('Retry-After')).toBe(retryAfter)
    expect(await refused(response)).toMatchObject({ status, error })
  })
})

describe('a landing', () => {
  const params = { repo: REPO, branch: 'main', ticket: TICKET }

  it('is told to whoever handed it in, and to the owner', async () => {
    gateway.later = landed()
    expect(await answered('getLanding', await get('getLanding', params, 'token'))).toEqual({
      ticket: TICKET,
      ...landed(),
    })
    await answered('getLanding', await get('getLanding', params, 'owner'))
    expect(gateway.asked.map(({ asker }) => asker)).toEqual([
      { did: ALICE.did, tokenId: 'token-1', tokenLabel: 'Agent 7' },
      null,
    ])
  })

  it('that is waited for is 202, and one that nobody knows 404', async () => {
    gateway.later = { state: 'waiting', ahead: 0, reason: null, retryAfterSeconds: 1 }
    const waiting = await get('getLanding', { ...params, wait: 'true' }, 'token')
    expect(waiting.status).toBe(202)
    expect(gateway.asked[0]!.waitMilliseconds).toBe(30_000)
    expect(await answered('getLanding', waiting)).toEqual({
      ticket: TICKET,
      state: 'waiting',
      ahead: 0,
      retryAfterSeconds: 1,
    })
    gateway.later = null
    expect(await refused(await get('getLanding', params, 'token'))).toMatchObject({
      status: 404,
      error: 'TicketNotFound',
    })
    expect(await refused(await get('getLanding', params))).toMatchObject({ status: 401 })
  })
})

describe('branches', () => {
  const create = (input: object) => post('createBranch', JSON.stringify({ repo: REPO, branch: 'new', ...input }))

  it.each([
    [undefined, () => main],
    ['feature/1', () => feature],
    ['v1', () => feature],
    ['refs/heads/behind', () => base],
  ])('are created from %s', async (from, target) => {
    await answered('createBranch', await create({ from }))
    expect(gateway.submitted[0]).toMatchObject({
      address: { ref: 'refs/heads/new' },
      work: { kind: 'create', target: target() },
    })
  })

  it.each([
    [{ from: 'none' }, 404, 'RevisionNotFound'],
    [{ from: 'tree' }, 404, 'RevisionNotFound'],
    [{ branch: 'a b' }, 400, 'InvalidRequest'],
    [{ repo: 'alice.test/none' }, 404, 'RepositoryNotFound'],
  ])('are not created of %j', async (input, status, error) => {
    expect(await refused(await create(input))).toMatchObject({ status, error })
    expect(gateway.submitted).toEqual([])
  })

  it('are deleted where they are as expected', async () => {
    const gone = { repo: REPO, branch: 'feature/1', expect: OID }
    gateway.answer = { accepted: true, ticket: TICKET, work: { ...landed(), commit: null, tree: null } as never }
    const answer = await answered('deleteBranch', await post('deleteBranch', JSON.stringify(gone)))
    expect(answer).toEqual({ ticket: TICKET, state: 'landed', parent: 'e'.repeat(40), landing: expect.anything() })
    expect(gateway.submitted[0]!.work).toEqual({ kind: 'delete', expectedTip: OID })
    const missing = await post('deleteBranch', JSON.stringify({ repo: REPO, branch: 'none' }))
    expect(await refused(missing)).toMatchObject({ status: 404, error: 'BranchNotFound' })
  })

  it('are not deleted where HEAD is', async () => {
    for (const branch of ['main', 'refs/heads/main']) {
      const answer = await post('deleteBranch', JSON.stringify({ repo: REPO, branch }))
      expect(await refused(answer)).toMatchObject({ status: 409, error: 'DefaultBranch' })
    }
    expect(gateway.submitted).toEqual([])
  })
})

describe('a merge', () => {
  const merge = (input: object) =>
    post('merge', JSON.stringify({ repo: REPO, branch: 'main', source: 'feature/1', ...input }))

  it.each<[object, object]>([
    [{}, { strategy: 'merge', sourceName: 'feature/1', message: "Merge branch 'feature/1'" }],
    [{ source: 'refs/heads/feature/1' }, { sourceName: 'feature/1', message: "Merge branch 'feature/1'" }],
    [{ source: 'v1' }, { sourceName: 'v1', message: "Merge tag 'v1'" }],
    [{ strategy: 'squash' }, { strategy: 'squash', message: null }],
    [{ strategy: 'rebase' }, { strategy: 'rebase', message: null }],
    [{ strategy: 'fast-forward' }, { strategy: 'fast-forward', message: null }],
    [{ message: 'Mine\n\n' }, { message: 'Mine' }],
    [{ branch: 'feature/1', source: 'clash' }, { message: "Merge branch 'clash' into feature/1" }],
    [{ expectTip: OID }, { expectedTip: OID }],
  ])('%j is handed in as %j', async (input, work) => {
    await answered('merge', await merge(input))
    expect(gateway.submitted[0]!.work).toMatchObject({ kind: 'merge', expectedTip: null, ...work })
  })

  it('names a commit by what it was asked for', async () => {
    await answered('merge', await merge({ source: feature.slice(0, 9) }))
    expect(gateway.submitted[0]!.work).toMatchObject({
      source: feature,
      message: `Merge commit '${feature.slice(0, 9)}'`,
    })
  })

  it.each<[object, number, string]>([
    [{ source: 'none' }, 404, 'RevisionNotFound'],
    [{ source: 'tree' }, 404, 'RevisionNotFound'],
    [{ branch: 'none' }, 404, 'BranchNotFound'],
    [{ strategy: 'octopus' }, 400, 'InvalidRequest'],
    [{ expectTip: 'main' }, 400, 'InvalidRequest'],
    [{ message: '\n' }, 400, 'InvalidRequest'],
  ])('%j is refused', async (input, status, error) => {
    expect(await refused(await merge(input))).toMatchObject({ status, error })
    expect(gateway.submitted).toEqual([])
  })
})

describe('the preview of a merge', () => {
  const preview = async (params: Record<string, string>) =>
    answered('mergePreview', await get('mergePreview', { repo: REPO, branch: 'main', source: 'feature/1', ...params }))
  const blob = (revision: string) => repository.text(['rev-parse', revision])

  it('says what would change', async () => {
    const tree = repository.text(['merge-tree', '--write-tree', main, feature])
    expect(await preview({})).toEqual({
      branch: main,
      source: feature,
      mergeBases: [base],
      canMerge: true,
      canFastForward: false,
      isUpToDate: false,
      tree,
      changes: [{ path: 'dir/c.txt', new: { mode: '100644', oid: blob(`${feature}:dir/c.txt`) } }],
      hasMore: false,
    })
    expect(await preview({ strategy: 'squash' })).toMatchObject({ canMerge: true, tree })
    expect(await preview({ strategy: 'rebase' })).toMatchObject({ canMerge: true, tree })
    expect(await preview({ branch: 'behind', strategy: 'fast-forward' })).toMatchObject({
      canMerge: true,
      canFastForward: true,
      tree: blob(`${feature}^{tree}`),
    })
  })

  it('says what conflicts', async () => {
    const answer = await preview({ source: 'clash' })
    expect(answer).toMatchObject({
      canMerge: false,
      canFastForward: false,
      isUpToDate: false,
      error: 'MergeConflict',
      conflicts: [
        {
          path: 'a.txt',
          kind: 'content',
          base: { oid: blob(`${base}:a.txt`), text: 'one\ntwo\nthree\n' },
          ours: { oid: blob(`${main}:a.txt`), text: 'ONE\ntwo\nthree\n' },
          theirs: { oid: blob(`${clash}:a.txt`), text: 'uno\ntwo\nthree\n' },
          merged: '<<<<<<< main\nONE\n=======\nuno\n>>>>>>> clash\ntwo\nthree\n',
        },
      ],
    })
  })

  it('says that there is nothing to merge, or that it is no fast-forward', async () => {
    expect(await preview({ source: 'behind' })).toMatchObject({
      canMerge: false,
      isUpToDate: true,
      error: 'NothingToCommit',
    })
    expect(await preview({ strategy: 'fast-forward' })).toMatchObject({ canMerge: false, error: 'NotFastForward' })
  })

  it.each([
    [{ branch: 'none' }, 404, 'BranchNotFound'],
    [{ source: 'none' }, 404, 'RevisionNotFound'],
    [{ repo: 'alice.test/none' }, 404, 'RepositoryNotFound'],
    [{ strategy: 'x' }, 400, 'InvalidRequest'],
  ])('%j is refused', async (params, status, error) => {
    const response = await get('mergePreview', { repo: REPO, branch: 'main', source: 'feature/1', ...params })
    expect(await refused(response)).toMatchObject({ status, error })
  })
})

import { createExecutionContext, env, waitOnExecutionContext } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Write } from '../../atproto/pds/write.ts'
import { PACK_COLLECTION, REF_COLLECTION, REFS_COLLECTION, REPO_COLLECTION } from '../../atproto/records/collections.ts'
import { encodePackRecord } from '../../atproto/records/pack-record.ts'
import { packKey, refKey, refsKey } from '../../atproto/records/record-keys.ts'
import { encodeRefRecord } from '../../atproto/records/ref-record.ts'
import { encodeRepoRecord } from '../../atproto/records/repo-record.ts'
import { tidFromTime } from '../../atproto/records/tid.ts'
import type { Environment } from '../../durable-objects/environment.ts'
import { tellOfBlock } from '../../durable-objects/operator/tell-of-block.ts'
import { accountWriterOf, branchQueueOf } from '../../durable-objects/stubs.ts'
import { hashObject } from '../../git/object/hash-object.ts'
import { BLOB, COMMIT, TREE } from '../../git/object/object-type.ts'
import { TokenStore } from '../../storage/access/token-store.ts'
import { createTokenText } from '../../storage/access/token-text.ts'
import { D1IdentityCache } from '../../storage/directory/identity-cache.ts'
import { RepositoryDirectory } from '../../storage/directory/repository-directory.ts'
import { IndexStore } from '../../storage/index/index-store.ts'
import { BlockStore } from '../../storage/operator/blocks.ts'
import { RequestContext } from '../../workers/request-context.ts'
import { router } from '../../workers/router.ts'
import { MemoryPds } from '../atproto/memory-pds.ts'
import { buildPack, objectEntry, utf8 } from '../git/pack/pack-builder.ts'

// Each way by which anybody gets at a repository, or something gets into it, before and after it is blocked.
const environment = env as unknown as Environment
const db = drizzle(environment.DB)
const NOW = Date.now()
const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const ORIGIN = 'https://pds.example.com'
const IDENTITY = { did: DID, handle: 'alice.com', pds: ORIGIN }
const APP = tidFromTime((NOW - 5_000) * 1000, 0)
const TOOL = tidFromTime((NOW - 4_000) * 1000, 0)
const MAIN = 'refs/heads/main'
const WORDS = 'blocked by the operator of this edge: it is spam'
const TOKEN = createTokenText()

const FILE = utf8('hello\n')
const TREE_BYTES = Buffer.concat([utf8('100644 README.md\0'), Buffer.from(hashObject(BLOB, FILE), 'hex')])
const COMMIT_BYTES = utf8(
  `tree ${hashObject(TREE, TREE_BYTES)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nfirst\n`,
)
const TIP = hashObject(COMMIT, COMMIT_BYTES)
const PACK = buildPack([objectEntry(BLOB, FILE), objectEntry(TREE, TREE_BYTES), objectEntry(COMMIT, COMMIT_BYTES)])

const pds = new MemoryPds()
/** Writes are not taken: what is handed in waits. */
let isPaused = false

function record(name: string) {
  return { name, defaultBranch: 'main', objectFormat: 'sha1', createdAt: '2026-11-30T12:00:00Z' } as const
}

/** A repository in the account, with a commit, a branch beside the default one, and as the index lists it. */
function create(rkey: string, name: string): void {
  const pack = packKey(rkey, rkey)
  const checksum = Buffer.from(PACK.subarray(-20)).toString('hex')
  const createdAt = '2026-11-30T12:00:00Z'
  const packed = { bytes: PACK, size: PACK.length, objects: 3, checksum, thin: false, createdAt }
  pds.put(REPO_COLLECTION, rkey, encodeRepoRecord(record(name)))
  pds.put(PACK_COLLECTION, pack, encodePackRecord(packed))
  for (const ref of [MAIN, 'refs/heads/side'])
    pds.put(REF_COLLECTION, refKey(rkey, ref, 1), encodeRefRecord({ name: ref, target: TIP, seq: 1, pack }))
  pds.put(REFS_COLLECTION, refsKey(rkey, 0, 1), { $type: REFS_COLLECTION, entries: [] })
}

async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url)
  const param = (name: string) => url.searchParams.get(name) ?? ''
  if (url.origin !== ORIGIN) return new Response(null, { status: 501 })
  switch (url.pathname.slice('/xrpc/'.length)) {
    case 'com.atproto.server.createSession':
      return Response.json({ did: DID, handle: 'alice.com', accessJwt: 'access', refreshJwt: 'refresh' })
    case 'com.atproto.repo.getRecord': {
      const found = await pds.client.getRecord(DID, param('collection'), param('rkey'))
      return found === null
        ? Response.json({ error: 'RecordNotFound', message: 'Could not locate record' }, { status: 400 })
        : Response.json(found)
    }
    case 'com.atproto.repo.listRecords': {
      const range = {
        did: DID,
        collection: param('collection'),
        limit: Number(param('limit')),
        cursor: param('cursor'),
      }
      const { records, cursor } = await pds.client.listRecords(range)
      return Response.json({ records, ...(cursor === null ? {} : { cursor }) })
    }
    case 'com.atproto.repo.applyWrites': {
      if (isPaused) return new Response(null, { status: 503 })
      const { writes } = (await request.json()) as { writes: (Write & { $type: string })[] }
      pds.applyWrites(
        writes.map((write) => ({ ...write, action: write.$type.split('#')[1] as Write['action'] }) as Write),
      )
      return Response.json({ results: writes.map(() => ({ $type: 'com.atproto.repo.applyWrites#deleteResult' })) })
    }
    default:
      return new Response(null, { status: 501 })
  }
}

beforeAll(async () => {
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => answer(new Request(url, init)))
  create(APP, 'app')
  create(TOOL, 'tool')
  const names = [
    { rkey: APP, record: record('app') },
    { rkey: TOOL, record: record('tool') },
  ]
  await new RepositoryDirectory(db).replace(DID, names, NOW, IDENTITY)
  const grant = { repositories: null, branches: null, rights: ['read', 'commit', 'branch', 'merge'] } as const
  const token = { id: tidFromTime(NOW * 1000, 0), did: DID, label: 'agent', grant, createdAt: NOW, revokedAt: null }
  await new TokenStore(db).create({ ...token, expiresAt: NOW + 3_600_000 }, TOKEN)
  await accountWriterOf(environment, DID).authenticate({ did: DID, pds: ORIGIN, password: 'right' })
  const records = [PACK_COLLECTION, REF_COLLECTION, REPO_COLLECTION].flatMap((collection) =>
    pds.keys(collection).map((rkey) => ({ collection, rkey })),
  )
  const listed = await Promise.all(
    records.map(async ({ collection, rkey }) => {
      const { value } = (await pds.client.getRecord(DID, collection, rkey))!
      return { collection, rkey, value }
    }),
  )
  const account = { ...IDENTITY, isActive: true, status: null, rev: tidFromTime(NOW * 1000, 0), listedAt: NOW }
  await new IndexStore(db).replaceAccount({ ...account, records: listed }, NOW)
  for (const actor of [DID, IDENTITY.handle]) await new D1IdentityCache(db).put(actor, IDENTITY, 3600)
})
afterAll(() => vi.unstubAllGlobals())

interface Told {
  readonly status: number
  readonly text: string
}

async function ask(path: string, init: RequestInit = {}): Promise<Told> {
  const execution = createExecutionContext()
  const request = new Request(`https://edge.test${path}`, init)
  const response = await router.fetch(request, new RequestContext(environment, execution))
  const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
  await waitOnExecutionContext(execution)
  return { status: response.status, text }
}

const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` }
const JSON_TYPE = { 'Content-Type': 'application/json' }

const get = (path: string) => () => ask(path)
const query =
  (nsid: string, params: Record<string, string> = {}) =>
  () =>
    ask(`/xrpc/${nsid}?${new URLSearchParams({ repo: 'alice.com/app', ...params })}`, { headers: AUTHORIZED })
const procedure = (nsid: string, input: object) => () =>
  ask(`/xrpc/${nsid}`, {
    method: 'POST',
    headers: { ...AUTHORIZED, ...JSON_TYPE },
    body: JSON.stringify({ repo: 'alice.com/app', ...input }),
  })

const rpc =
  (service: string, headers: Record<string, string>, ...lines: string[]) =>
  () =>
    ask(`/alice.com/app/${service}`, {
      method: 'POST',
      headers: { 'Content-Type': `application/x-${service}-request`, ...headers },
      body: lines
        .map((line) => (line.length === 4 ? line : (line.length + 4).toString(16).padStart(4, '0') + line))
        .join(''),
    })

const message = (method: string, params: object) => () =>
  ask('/mcp', {
    method: 'POST',
    headers: { ...AUTHORIZED, ...JSON_TYPE, Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
const tool = (name: string, args: object) =>
  message('tools/call', { name, arguments: { repo: 'alice.com/app', ...args } })

const V2 = { 'Git-Protocol': 'version=2' }
const BASIC = { Authorization: `Basic ${btoa(`alice.com:${TOKEN}`)}` }
const change = { message: 'x', changes: [{ path: 'x.txt', content: 'x\n' }], wait: false }
const ticket = { branch: 'main', ticket: 'none' }

/** What is not there may be answered 404 or so, as long as nothing is blocked. */
const doors: readonly (readonly [string, () => Promise<Told>])[] = [
  ['the refs, for a clone', get('/alice.com/app/info/refs?service=git-upload-pack')],
  ['the refs, by DID', get(`/${DID}/app.git/info/refs?service=git-upload-pack`)],
  ['the refs, for a push', () => ask('/alice.com/app/info/refs?service=git-receive-pack', { headers: BASIC })],
  ['ls-refs', rpc('git-upload-pack', V2, 'command=ls-refs\n', '0001', '0000')],
  ['a clone', rpc('git-upload-pack', V2, 'command=fetch\n', '0001', `want ${TIP}\n`, 'done\n', '0000')],
  ['a clone by protocol 0', rpc('git-upload-pack', {}, `want ${TIP} ofs-delta\n`, '0000', 'done\n')],
  [
    'a push',
    rpc('git-receive-pack', BASIC, `${TIP} ${'0'.repeat(40)} refs/heads/absent\0report-status delete-refs\n`, '0000'),
  ],
  ['its page', get('/alice.com/app')],
  ['a file', get('/alice.com/app/raw/main/README.md')],
  ['a tar archive', get('/alice.com/app/archive/main.tar.gz')],
  ['a zip archive', get('/alice.com/app/archive/main.zip')],
  ['repo.get', query('dev.skein.repo.get')],
  ['repo.get by its record', query('dev.skein.repo.get', { repo: `at://${DID}/${REPO_COLLECTION}/${APP}` })],
  ['git.listRefs', query('dev.skein.git.listRefs')],
  ['git.getTree', query('dev.skein.git.getTree')],
  ['git.getBlob', query('dev.skein.git.getBlob', { path: 'README.md' })],
  ['git.getCommit', query('dev.skein.git.getCommit', { ref: 'main' })],
  ['git.listCommits', query('dev.skein.git.listCommits')],
  ['gateway.commit', procedure('dev.skein.gateway.commit', { branch: 'main', ...change })],
  ['gateway.commit to another branch', procedure('dev.skein.gateway.commit', { branch: 'side', ...change })],
  ['gateway.createBranch', procedure('dev.skein.gateway.createBranch', { branch: 'b', from: 'main', wait: false })],
  ['gateway.deleteBranch', procedure('dev.skein.gateway.deleteBranch', { branch: 'absent', wait: false })],
  [
    'gateway.merge',
    procedure('dev.skein.gateway.merge', { branch: 'main', source: 'side', strategy: 'merge', wait: false }),
  ],
  ['gateway.mergePreview', query('dev.skein.gateway.mergePreview', { branch: 'main', source: 'side' })],
  ['gateway.getLanding', query('dev.skein.gateway.getLanding', ticket)],
  ['tool list_branches', tool('list_branches', {})],
  ['tool list_files', tool('list_files', {})],
  ['tool read_file', tool('read_file', { path: 'README.md' })],
  ['tool search_files', tool('search_files', { text: 'hello' })],
  ['tool log', tool('log', {})],
  ['tool diff', tool('diff', {})],
  ['tool commit', tool('commit', { branch: 'main', ...change })],
  ['tool create_branch', tool('create_branch', { branch: 'c', from: 'main' })],
  ['tool merge', tool('merge', { branch: 'main', source: 'side' })],
  ['tool get_landing', tool('get_landing', ticket)],
  ['a resource', message('resources/read', { uri: 'skein://alice.com/app/main/README.md' })],
]

/** Lists, from which it is to be left out. */
const lists = [
  ['the account’s page', '/alice.com'],
  ['repo.list', '/xrpc/dev.skein.repo.list?actor=alice.com'],
  ['actor.listRepos', '/xrpc/dev.skein.actor.listRepos?actor=alice.com'],
  ['repo.search', '/xrpc/dev.skein.repo.search?q=alice'],
  ['the timeline', '/xrpc/dev.skein.feed.timeline'],
  ['the timeline of repositories', '/xrpc/dev.skein.feed.timeline?kind=repositories'],
] as const

async function setBlocked(isBlocked: boolean): Promise<void> {
  const [subject, blocks] = [{ did: DID, rkey: APP }, new BlockStore(db)]
  if (isBlocked) await blocks.put({ ...subject, reason: 'it is spam', createdAt: NOW })
  else await blocks.remove(subject)
  await tellOfBlock(environment, subject, true)
}

const profile = async () => JSON.parse((await ask(`/xrpc/dev.skein.actor.getProfile?actor=${DID}`)).text)
const names = (text: string) => ['app', 'tool'].filter((name) => new RegExp(`\\b${name}\\b`).test(text))

describe('a repository that is not blocked', () => {
  it.each(doors)('is open: %s', async (_, open) => {
    const { status, text } = await open()
    expect({ status, text }).not.toMatchObject({ text: expect.stringContaining('blocked') })
    expect([200, 202, 404, 429]).toContain(status)
    expect(text).not.toContain('Error: ')
  })

  it('is in all lists', async () => {
    for (const [name, path] of lists) expect([name, names((await ask(path)).text)]).toEqual([name, ['app', 'tool']])
    expect(await profile()).toMatchObject({ repositories: 2, size: 2 * PACK.length })
  })
})

describe('a repository that is blocked', () => {
  let waiting: string
  let before: string[]

  beforeAll(async () => {
    isPaused = true
    before = pds.keys(REF_COLLECTION)
    const { text } = await procedure('dev.skein.gateway.commit', {
      branch: 'main',
      ...change,
      changes: [{ path: 'waits.txt', content: 'x\n' }],
    })()
    waiting = JSON.parse(text).ticket
    expect(text).toContain('waiting')
    await setBlocked(true)
    isPaused = false
  })

  it.each(doors)('is closed: %s', async (_, open) => {
    const { status, text } = await open()
    expect({ status, text }).toMatchObject({ text: expect.stringContaining(WORDS) })
    expect([200, 403]).toContain(status)
    expect(text).not.toContain('hello')
  })

  it('is in no list, and counts nowhere', async () => {
    for (const [name, path] of lists) expect([name, names((await ask(path)).text)]).toEqual([name, ['tool']])
    expect(await profile()).toMatchObject({ repositories: 1, size: PACK.length })
    const { actors } = JSON.parse((await ask('/xrpc/dev.skein.repo.search?q=alice')).text)
    expect(actors).toMatchObject([{ repositories: 1 }])
  })

  it('has what waits for its branches refused, and never written', async () => {
    const queue = branchQueueOf(environment, { did: DID, rkey: APP, ref: MAIN })
    const settled = async () => await queue.state(waiting, 5_000)
    await vi.waitFor(async () => expect(await settled()).toMatchObject({ state: 'refused' }), { timeout: 20_000 })
    expect(await settled()).toMatchObject({ refusal: { reason: 'blocked', message: WORDS } })
    expect(pds.keys(REF_COLLECTION)).toEqual(before)
    await setBlocked(false)
    expect(await settled()).toMatchObject({ state: 'refused' })
    expect((await get('/alice.com/app/raw/main/README.md')()).text).toBe('hello\n')
  })
})

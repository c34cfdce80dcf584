import { env, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AccountWriter } from '../../../durable-objects/account-writer/account-writer.ts'
import type { Environment } from '../../../durable-objects/environment.ts'

/** In workerd: the object's own storage and crypto, the lexicons, the Agent of @atproto/api, and our fetch under it. */

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const PDS = 'https://pds.example.com'
const REPO = '3lzkoq5qq2s2a'

interface Asked {
  readonly path: string
  readonly authorization: string | null
  readonly body: unknown
}

let asked: Asked[]

/** A PDS with one account and no records, which takes every write. */
async function answer(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname.slice('/xrpc/'.length)
  const text = await request.text()
  const body = text === '' ? null : (JSON.parse(text) as { password?: string; writes?: unknown[] })
  asked.push({ path, authorization: request.headers.get('authorization'), body })
  switch (path) {
    case 'com.atproto.server.createSession':
      if (body?.password !== 'right') return Response.json({ error: 'AuthenticationRequired' }, { status: 401 })
      return Response.json({ did: DID, handle: 'alice.com', accessJwt: 'access', refreshJwt: 'refresh' })
    case 'com.atproto.repo.listRecords':
      return Response.json({ records: [] })
    case 'com.atproto.repo.applyWrites':
      return Response.json({
        results: body?.writes?.map(() => ({ $type: 'com.atproto.repo.applyWrites#deleteResult' })),
      })
    default:
      return new Response(null, { status: 501 })
  }
}

beforeEach(() => {
  asked = []
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => answer(new Request(url, init)))
})
afterEach(() => {
  vi.unstubAllGlobals()
})

function writer(): DurableObjectStub<AccountWriter> {
  const { ACCOUNT_WRITER } = env as unknown as Environment
  return ACCOUNT_WRITER.get(ACCOUNT_WRITER.idFromName(DID))
}

test('signs in once, keeps the session sealed, and lands a new repository with its pack', async () => {
  expect(await writer().authenticate({ did: DID, pds: PDS, password: 'wrong' })).toMatchObject({
    reason: 'wrong-password',
  })
  expect(await writer().authenticate({ did: DID, pds: PDS, password: 'right' })).toEqual({ ok: true })
  expect(await writer().authenticate({ did: DID, pds: PDS, password: 'right' })).toEqual({ ok: true })
  expect(await writer().accessToken({ did: DID, pds: PDS })).toEqual({ ok: true, token: 'access' })
  const createdAt = '2026-11-30T12:00:00Z'
  const landed = await writer().land({
    did: DID,
    pds: PDS,
    repo: REPO,
    create: { name: 'app', defaultBranch: 'main', objectFormat: 'sha1', createdAt },
    pack: {
      rkey: `${REPO}:3lzkosecbps2a`,
      record: {
        bytes: new Uint8Array(32).fill(1),
        size: 32,
        objects: 0,
        checksum: '1'.repeat(40),
        thin: false,
        createdAt,
      },
    },
    moves: [{ name: 'refs/heads/main', from: null, target: '1'.repeat(40), peeled: null }],
    atomic: false,
    head: null,
  })
  expect(landed).toMatchObject({
    ok: true,
    result: { repository: 'created', packLanded: true, head: 1, moves: [{ outcome: 'landed' }] },
  })
  expect(asked.map(({ path }) => path)).toEqual([
    'com.atproto.server.createSession',
    'com.atproto.server.createSession',
    'com.atproto.repo.listRecords',
    'com.atproto.repo.applyWrites',
  ])
  const { authorization, body } = asked.at(-1)!
  expect(authorization).toBe('Bearer access')
  expect(body).toMatchObject({
    repo: DID,
    writes: [
      { collection: 'dev.skein.repo', rkey: REPO, value: { name: 'app' } },
      { collection: 'dev.skein.pack', value: { bytes: { $bytes: 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=' } } },
      { collection: 'dev.skein.refs', rkey: `${REPO}:0:1` },
      { collection: 'dev.skein.ref', value: { name: 'refs/heads/main', seq: 1 } },
    ],
  })
  await runInDurableObject(writer(), async (_, state) => {
    const kept = JSON.stringify([...(await state.storage.list())])
    expect(kept).toContain('credentials')
    expect(kept).not.toMatch(/"access"|"refresh"|right/)
  })
})

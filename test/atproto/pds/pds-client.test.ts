import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedFetch, type GuardedFetch } from '../../../atproto/network/guarded-fetch.ts'
import { HostBudget } from '../../../atproto/pds/host-budget.ts'
import { PdsClient } from '../../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import { type LocalAccount, startLocalAccount } from '../local-account.ts'

/** A client whose host gives these answers, one a request. */
function clientOf(...answers: (() => Response)[]) {
  const asked: Request[] = []
  const fetch = createGuardedFetch({
    fetch: async (url, init) => {
      asked.push(new Request(url, { ...init, duplex: 'half' } as RequestInit))
      return answers.shift()!()
    },
  })
  return {
    client: new PdsClient({ service: 'https://pds.example.com', fetch, retry: { sleep: async () => undefined } }),
    asked,
  }
}

function json(body: unknown, status = 200, headers: Record<string, string> = {}): () => Response {
  return () => Response.json(body, { status, headers })
}

describe('a PDS that does not behave', () => {
  test('a record that is no valid data does not hide the others', async () => {
    const { client } = clientOf(
      json({
        records: [
          { uri: 'at://d/c/1', value: { a: { $link: 'no cid' } } },
          7,
          { value: {} },
          // Its key would keep all of it in memory.
          { uri: `at://${'d'.repeat(10_000)}/c/9`, value: {} },
          { uri: 'at://d/c/2', value: null },
        ],
      }),
    )
    const { records, cursor } = await client.listRecords({ did: 'd', collection: 'c', limit: 5 })
    expect(records.map(({ rkey }) => rkey)).toEqual(['1', '2'])
    expect(cursor).toBe(null)
  })

  test.each<[string, () => Response, string]>([
    ['a page of HTML', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'InvalidResponse'],
    ['another shape', json([]), 'InvalidResponse'],
    ['a list without end', () => new Response('x'.repeat(13 * 1024 * 1024)), 'ResponseTooLarge'],
    ['millions of empty objects', () => new Response(`{"records":[${'{},'.repeat(2_000_000)}{}]}`), 'ResponseTooLarge'],
  ])('%s in place of records', async (_, answer, error) => {
    const { client } = clientOf(answer)
    await expect(client.listRecords({ did: 'd', collection: 'c', limit: 1 })).rejects.toMatchObject({
      name: 'PdsError',
      status: 200,
      error,
    })
  })

  test('an error with millions of empty objects is one without words, and a session with them none', async () => {
    const bomb = `{"error":"x","a":[${'{},'.repeat(1_000_000)}{}]}`
    const { client } = clientOf(
      () => new Response(bomb, { status: 400 }),
      () => new Response(bomb, { headers: { 'content-type': 'application/json' } }),
    )
    const list = client.listRecords({ did: 'd', collection: 'c', limit: 1 })
    await expect(list).rejects.toMatchObject({ status: 400, error: '' })
    const session = client.createSession({ identifier: 'a', password: 'b' })
    await expect(session).rejects.toMatchObject({ name: 'PdsError' })
  })

  test('a session without tokens is an invalid answer', async () => {
    const { client } = clientOf(json({ did: 'did:plc:a' }))
    await expect(client.createSession({ identifier: 'a', password: 'b' })).rejects.toMatchObject({
      error: 'InvalidResponse',
    })
  })

  test('a redirect is not followed with a token', async () => {
    const { client, asked } = clientOf(
      () => new Response(null, { status: 307, headers: { location: 'https://evil.com/' } }),
    )
    await expect(client.applyWrites('did:plc:a', [], 'token')).rejects.toMatchObject({ status: 307 })
    expect(asked).toHaveLength(1)
  })

  test('fewer results than writes are suspicious', async () => {
    const { client } = clientOf(json({ results: [] }))
    const write = { action: 'delete' as const, collection: 'a.b.c', rkey: 'x' }
    await expect(client.applyWrites('did:plc:a', [write], 'token')).rejects.toMatchObject({
      status: 200,
      error: 'InvalidResponse',
    })
  })

  test('errors carry status, name, message and the pause that is asked for', async () => {
    const limited = { 'ratelimit-limit': '30', 'ratelimit-remaining': '0', 'ratelimit-reset': '9999999999' }
    const { client } = clientOf(
      json({ error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' }, 429, { 'retry-after': '90' }),
      json({}, 429, limited),
    )
    const fault = await client.createSession({ identifier: 'a', password: 'b' }).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(PdsError)
    expect(fault).toMatchObject({
      host: 'pds.example.com',
      status: 429,
      error: 'RateLimitExceeded',
      retryAfter: 90,
      message: 'pds.example.com answered 429 RateLimitExceeded: Rate Limit Exceeded',
    })
    await expect(client.createSession({ identifier: 'a', password: 'b' })).rejects.toHaveProperty(
      'retryAfter',
      expect.any(Number),
    )
    // Nothing is sent now: there is no third answer.
    await expect(client.createSession({ identifier: 'a', password: 'b' })).rejects.toMatchObject({
      name: 'PdsBudgetError',
    })
  })

  test('reads are tried again, writes are not', async () => {
    const down = json({}, 502)
    const reading = clientOf(down, down, json({ records: [] }))
    await reading.client.listRecords({ did: 'd', collection: 'c', limit: 1 })
    expect(reading.asked).toHaveLength(3)
    const writing = clientOf(down)
    await expect(writing.client.applyWrites('did:plc:a', [], 'token')).rejects.toThrow('answered 502')
    expect(writing.asked).toHaveLength(1)
  })

  test('a private address in a DID document is unreachable', async () => {
    const client = new PdsClient({ service: 'https://169.254.169.254' })
    await expect(client.describeServer()).rejects.toThrow(PdsUnreachableError)
  })
})

describe('the reference PDS with its rate limits', () => {
  let local: LocalAccount
  beforeAll(async () => {
    local = await startLocalAccount({ rateLimits: true })
  }, 60_000)
  afterAll(() => local[Symbol.asyncDispose]())

  test('says what is left in headers that the budget reads', async () => {
    const { did, password } = local.account
    const budget = new HostBudget({ now: () => Date.now(), sleep: async () => undefined })
    const headers: Headers[] = []
    const fetch: GuardedFetch = async (url, request) => {
      const response = await local.fetch(url, request)
      headers.push(response.headers)
      return response
    }
    const client = new PdsClient({ service: local.atmosphere.pdsUrl, fetch, account: did, budget })
    await client.createSession({ identifier: did, password })
    expect(headers[0]!.get('ratelimit-policy')).toBe('30;w=300')
    const spent = new Headers(headers[0])
    spent.set('ratelimit-remaining', '0')
    const { host } = new URL(local.atmosphere.pdsUrl)
    budget.note(host, `/xrpc/com.atproto.server.createSession ${did}`, { status: 200, headers: spent })
    await expect(client.createSession({ identifier: did, password })).rejects.toThrow(
      /takes no more requests from here until/,
    )
    expect(headers).toHaveLength(1)
  })
})

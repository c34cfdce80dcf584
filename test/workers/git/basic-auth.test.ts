import { describe, expect, it } from 'vitest'
import type { Identity } from '../../../atproto/identity/identity.ts'
import type { AuthenticateAnswer, Refusal } from '../../../durable-objects/account-writer/answers.ts'
import { readCredentials, requireOwner } from '../../../workers/git/basic-auth.ts'
import { HttpError } from '../../../workers/http/http-error.ts'
import type { RequestContext } from '../../../workers/request-context.ts'

const ALICE: Identity = { did: 'did:plc:alice', handle: 'alice.test', pds: 'https://pds.test' }
const BOB: Identity = { did: 'did:plc:bob', handle: 'bob.test', pds: 'https://pds.test' }

function asking(authorization?: string): Request {
  return new Request('https://edge.test/', authorization === undefined ? {} : { headers: { authorization } })
}

function basic(text: string | Uint8Array): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

describe('readCredentials', () => {
  it.each([
    ['alice.test:secret', 'alice.test', 'secret'],
    ['alice.test:a:b', 'alice.test', 'a:b'],
    ['did:plc:alice:secret', 'did:plc:alice', 'secret'],
    ['did:web:example.com:a:b', 'did:web:example.com', 'a:b'],
    ['alice.test:pässwört\n', 'alice.test', 'pässwört\n'],
    [':', '', ''],
  ])('reads %j', (text, username, password) => {
    expect(readCredentials(asking(basic(text)))).toEqual({ username, password })
  })

  it('is null where there are none', () => {
    expect(readCredentials(asking())).toBe(null)
  })

  it.each([
    ['another scheme', 'Bearer abc'],
    ['no colon', basic('alice.test')],
    ['no base64', 'Basic §§§'],
    ['no UTF-8', basic(Uint8Array.of(0xff, 0x3a, 0xff))],
    ['nothing after the scheme', 'Basic'],
    ['base64 of the wrong length', 'Basic YWxpY2U6c2VjcmV0A'],
  ])('refuses %s with a challenge', (_, authorization) => {
    const error = thrownBy(() => readCredentials(asking(authorization)))
    expect(error.status).toBe(401)
    expect(error.headers['WWW-Authenticate']).toMatch(/^Basic realm=/)
  })
})

describe('requireOwner', () => {
  const asked: unknown[] = []

  function contextWith(answer: AuthenticateAnswer): RequestContext {
    asked.length = 0
    const accounts = [ALICE, BOB]
    return {
      async resolveActor(actor: string) {
        const found = accounts.find(({ did, handle }) => did === actor || handle === actor)
        if (found === undefined) throw new HttpError(404, 'ActorNotFound', 'account not found')
        return found
      },
      accountWriter: () => ({
        async authenticate(request: unknown) {
          asked.push(request)
          return answer
        },
      }),
    } as unknown as RequestContext
  }

  async function refusalOf(answer: AuthenticateAnswer, authorization?: string, owner = ALICE): Promise<HttpError> {
    try {
      await requireOwner(contextWith(answer), asking(authorization), owner)
    } catch (error) {
      if (error instanceof HttpError) return error
      throw error
    }
    throw new Error('let in')
  }

  it('lets the owner in, by handle or DID', async () => {
    for (const username of ['alice.test', 'did:plc:alice']) {
      await requireOwner(contextWith({ ok: true }), asking(basic(`${username}:secret`)), ALICE)
      expect(asked).toEqual([{ did: 'did:plc:alice', pds: 'https://pds.test', password: 'secret' }])
    }
  })

  it('asks for credentials where there are none, and where there is no such account', async () => {
    expect((await refusalOf({ ok: true })).status).toBe(401)
    const error = await refusalOf({ ok: true }, basic('nobody.test:secret'))
    expect([error.status, error.headers['WWW-Authenticate']]).toEqual([401, expect.stringMatching(/^Basic/)])
    expect(error.message).toContain('"nobody.test"')
  })

  it("refuses another's account in words, without asking about the password", async () => {
    const error = await refusalOf({ ok: true }, basic('bob.test:secret'))
    expect([error.status, error.message]).toEqual([403, expect.stringContaining('alice.test')])
    expect(asked).toEqual([])
  })

  it.each([
    ['wrong-password', 401, null],
    ['refused', 403, null],
    ['signed-out', 403, null],
    ['rate-limited', 429, '60'],
    ['unreachable', 503, '60'],
  ] as const)('answers %s with %i', async (reason, status, retryAfter) => {
    const refusal: Refusal = { ok: false, reason, message: 'the words of the PDS', retryAfterSeconds: 60 }
    const error = await refusalOf(refusal, basic('alice.test:secret'))
    expect([error.status, error.message, error.headers['Retry-After'] ?? null]).toEqual([
      status,
      'the words of the PDS',
      retryAfter,
    ])
  })
})

function thrownBy(run: () => unknown): HttpError {
  try {
    run()
  } catch (error) {
    if (error instanceof HttpError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

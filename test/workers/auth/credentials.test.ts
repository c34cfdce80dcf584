import { describe, expect, it } from 'vitest'
import { createTokenText } from '../../../storage/access/token-text.ts'
import { readCredentials, requireCredentials } from '../../../workers/auth/credentials.ts'
import { HttpError } from '../../../workers/http/http-error.ts'

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
    ['alice.test:skein_short', 'alice.test', 'skein_short'],
    [':', '', ''],
  ])('reads %j', (text, username, password) => {
    expect(readCredentials(asking(basic(text)))).toEqual({ kind: 'password', username, password })
  })

  it('reads a token as a bearer, or as a password of anybody', () => {
    const text = createTokenText()
    for (const authorization of [`Bearer ${text}`, `bearer  ${text} `, basic(`x:${text}`), basic(`:${text}`)]) {
      expect(readCredentials(asking(authorization))).toEqual({ kind: 'token', text })
    }
  })

  it('reads a JWT', () => {
    expect(readCredentials(asking('Bearer eyJh.eyJi.c2ln_-'))).toEqual({ kind: 'jwt' })
  })

  it('is null where there are none', () => {
    expect(readCredentials(asking())).toBe(null)
  })

  it.each([
    ['another scheme', 'Digest abc'],
    ['a bearer of nothing that is known', 'Bearer abc'],
    ['a token that is cut off', `Bearer ${createTokenText().slice(0, -1)}`],
    ['a token and more', `Bearer ${createTokenText()}a`],
    ['a JWT of two parts', 'Bearer eyJh.eyJi'],
    ['no colon', basic('alice.test')],
    ['no base64', 'Basic §§§'],
    ['no UTF-8', basic(Uint8Array.of(0xff, 0x3a, 0xff))],
    ['nothing after the scheme', 'Basic'],
    ['base64 of the wrong length', 'Basic YWxpY2U6c2VjcmV0A'],
    ['a scheme that is a property', 'constructor abc'],
  ])('refuses %s with a challenge', (_, authorization) => {
    const error = thrownBy(() => readCredentials(asking(authorization)))
    expect([error.status, error.code]).toEqual([401, 'AuthenticationRequired'])
    expect(error.headers['WWW-Authenticate']).toMatch(/^Basic realm=/)
  })
})

it('requireCredentials asks for them where there are none', () => {
  expect(thrownBy(() => requireCredentials(asking())).status).toBe(401)
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

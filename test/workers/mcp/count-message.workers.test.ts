import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { TokenStore } from '../../../storage/access/token-store.ts'
import { createTokenText } from '../../../storage/access/token-text.ts'
import { countMessage } from '../../../workers/mcp/count-message.ts'
import type { RequestContext } from '../../../workers/request-context.ts'

const db = drizzle((env as unknown as Environment).DB)
const NOW = Date.now()

async function createToken(id: string, expiresAt: number, revokedAt: number | null = null): Promise<string> {
  const text = createTokenText()
  const grant = { repositories: null, branches: null, rights: ['read'] } as const
  const store = new TokenStore(db)
  await store.create({ id, did: 'did:plc:alice', label: 'a', grant, createdAt: NOW, expiresAt, revokedAt }, text)
  if (revokedAt !== null) await store.revoke('did:plc:alice', id, revokedAt)
  return text
}

/** Whom a message is counted for. */
async function keyOf(authorization: string | null, address = '203.0.113.7', database = db): Promise<string> {
  const keys: string[] = []
  const limit = async ({ key }: { key: string }) => {
    keys.push(key)
    return { success: true }
  }
  const context = { db: database, environment: { CALL_LIMIT: { limit } } } as unknown as RequestContext
  const headers = { 'CF-Connecting-IP': address, ...(authorization === null ? {} : { authorization }) }
  await countMessage(context, new Request('https://edge.test/mcp', { headers }))
  expect(keys).toHaveLength(1)
  return keys[0]!
}

describe('a message', () => {
  it('with a good token is counted for the token, however it is written and wherever it comes from', async () => {
    const text = await createToken('good', NOW + 1_000_000)
    const spellings = [`Bearer ${text}`, `bearer   ${text}`, `BEARER ${text} `, `Basic ${btoa(`x:${text}`)}`]
    const keys = await Promise.all(spellings.map((spelling, i) => keyOf(spelling, `203.0.113.${i}`)))
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).not.toContain('203.0.113')
    expect(await keyOf(`Bearer ${await createToken('other', NOW + 1_000_000)}`)).not.toBe(keys[0])
  })

  it('with credentials that anybody can make up is counted for its address', async () => {
    const made = [
      null,
      'nonsense',
      `Bearer ${createTokenText()}`,
      `Bearer ${await createToken('expired', NOW - 1)}`,
      `Bearer ${await createToken('revoked', NOW + 1_000_000, NOW)}`,
      'Bearer aaaa.bbbb.cccc',
      `Basic ${btoa('alice.test:guess')}`,
    ]
    for (const authorization of made) expect(await keyOf(authorization)).toBe('mcp 203.0.113.7')
  })

  it('is counted for its address where D1 cannot be asked', async () => {
    const select = () => {
      throw new Error('down')
    }
    const broken = { select } as unknown as typeof db
    expect(await keyOf(`Bearer ${createTokenText()}`, '203.0.113.7', broken)).toBe('mcp 203.0.113.7')
  })

  it('of IPv6 is counted for the network', async () => {
    const keys = ['2001:db8:0:5::1', '2001:0DB8::5:abcd:1:2:3', '2001:db8:0:5:9:9:9:9']
    for (const address of keys) expect(await keyOf(null, address)).toBe('mcp 2001:db8:0:5::/64')
    expect(await keyOf(null, '2001:db8::1')).toBe('mcp 2001:db8:0:0::/64')
    expect(await keyOf(null, '::1')).toBe('mcp 0:0:0:0::/64')
  })
})

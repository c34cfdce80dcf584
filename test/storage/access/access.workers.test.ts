import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { type AuditedLanding, LandingAudit } from '../../../storage/access/landing-audit.ts'
import { tokens, usedJwts } from '../../../storage/access/tables.ts'
import { MAX_TOKENS, type Token, TokenStore } from '../../../storage/access/token-store.ts'
import { createTokenText, isTokenText } from '../../../storage/access/token-text.ts'
import { UsedJwts } from '../../../storage/access/used-jwts.ts'

const db = drizzle((env as unknown as Environment).DB)
const NOW = 1_790_000_000_000
const DAY = 24 * 60 * 60_000

let made = 0
const account = () => `did:plc:account${made++}`

function token(did: string, change: Partial<Token> = {}): Token {
  return {
    id: `token${String(made++).padStart(6, '0')}`,
    did,
    label: 'ci',
    grant: { repositories: null, branches: null, rights: ['commit'] },
    createdAt: NOW,
    expiresAt: NOW + 90 * DAY,
    revokedAt: null,
    ...change,
  }
}

describe('TokenStore', () => {
  const store = new TokenStore(db)

  it('finds a token by its text, and keeps no text', async () => {
    const text = createTokenText()
    expect(isTokenText(text)).toBe(true)
    const grant = { repositories: ['3lzkoq5qq2s2a'], branches: ['agents/*'], rights: ['commit', 'branch'] as const }
    const created = token(account(), { grant })
    expect(await store.create(created, text)).toBe(true)
    expect(await store.find(text)).toEqual(created)
    expect(await store.find(createTokenText())).toBe(null)
    expect(JSON.stringify(await db.select().from(tokens))).not.toContain(text)
  })

  it('lists those of one account, oldest first', async () => {
    const did = account()
    const [first, second] = [token(did), token(did)]
    await store.create(second, createTokenText())
    await store.create(first, createTokenText())
    await store.create(token(account()), createTokenText())
    expect(await store.list(did)).toEqual([first, second])
  })

  it('revokes for good, and only what is one’s own', async () => {
    const did = account()
    const text = createTokenText()
    const { id } = token(did)
    await store.create(token(did, { id }), text)
    expect(await store.revoke(account(), id, NOW)).toBe(null)
    expect((await store.find(text))!.revokedAt).toBe(null)
    expect((await store.revoke(did, id, NOW + 1))!.revokedAt).toBe(NOW + 1)
    expect((await store.revoke(did, id, NOW + 2))!.revokedAt).toBe(NOW + 1)
    expect((await store.find(text))!.revokedAt).toBe(NOW + 1)
    expect(await store.revoke(did, 'none', NOW)).toBe(null)
  })

  it('says which of several have not been revoked', async () => {
    const did = account()
    const [good, expired, revoked] = [token(did), token(did, { expiresAt: NOW - 1 }), token(did)]
    for (const one of [good, expired, revoked]) await store.create(one, createTokenText())
    await store.revoke(did, revoked.id, NOW)
    const ids = [good.id, expired.id, revoked.id, 'none']
    expect(await store.unrevoked(ids)).toEqual(new Set([good.id, expired.id]))
    expect(await store.unrevoked([])).toEqual(new Set())
  })

  it('has a bound for what is good, and one for what has ended', async () => {
    const did = account()
    for (let i = 0; i < MAX_TOKENS; i++) expect(await store.create(token(did), createTokenText())).toBe(true)
    expect(await store.create(token(did), createTokenText())).toBe(false)
    expect(await store.list(did)).toHaveLength(MAX_TOKENS)
    const [first] = await store.list(did)
    await store.revoke(did, first!.id, NOW)
    expect(await store.create(token(did), createTokenText())).toBe(true)
    // A year later all of them have expired.
    for (let i = 0; i < 3; i++) {
      const later = { createdAt: NOW + 366 * DAY, expiresAt: NOW + 400 * DAY }
      expect(await store.create(token(did, later), createTokenText())).toBe(true)
    }
    const kept = await store.list(did)
    expect(kept).toHaveLength(200 + 3)
    expect(kept.some(({ id }) => id === first!.id)).toBe(false)
  })
})

describe('LandingAudit', () => {
  const audit = new LandingAudit(db)

  function row(change: Partial<AuditedLanding> = {}): AuditedLanding {
    return {
      ticket: `ticket${made++}`,
      did: 'did:plc:owner',
      rkey: 'app',
      ref: 'refs/heads/main',
      landing: 'landing',
      commit: '1'.repeat(40),
      kind: 'commit',
      submitter: 'did:plc:owner',
      token: 'token',
      label: 'ci',
      landedAt: NOW,
      ...change,
    }
  }

  it('has each ticket once, however often it is recorded', async () => {
    const did = account()
    const first = row({ did, landedAt: NOW })
    const second = row({ did, landedAt: NOW + 1, kind: 'delete', commit: null, token: null, label: null })
    await audit.record([first])
    await Promise.all([audit.record([first, second]), audit.record([second, first])])
    await audit.record([{ ...first, commit: '2'.repeat(40) }])
    expect(await audit.list(did, 'app', 10)).toEqual([second, first])
    expect(await audit.list(did, 'app', 1)).toEqual([second])
    expect(await audit.list(did, 'other', 10)).toEqual([])
  })

  it('looks up what a token is called where it is not said', async () => {
    const did = account()
    const { id } = token(did)
    await new TokenStore(db).create(token(did, { id, label: 'agent 7' }), createTokenText())
    await audit.record([
      row({ did, token: id, label: null, ticket: `${id} a` }),
      row({ did, token: id, label: 'before', ticket: `${id} b` }),
      row({ did, token: null, label: null, ticket: `${id} c` }),
    ])
    expect((await audit.list(did, 'app', 10)).map(({ label }) => label)).toEqual([null, 'before', 'agent 7'])
  })

  it('takes none, and thousands', async () => {
    const did = account()
    await audit.record([])
    await audit.record(Array.from({ length: 3_000 }, () => row({ did, label: 'ü'.repeat(100) })))
    expect(await audit.list(did, 'app', 5_000)).toHaveLength(3_000)
  })

  it('drops what is older than 400 days', async () => {
    const did = account()
    const [old, young] = [row({ did, landedAt: NOW }), row({ did, landedAt: NOW + 1 })]
    await audit.record([old, young])
    await audit.prune(NOW + 400 * DAY + 1)
    expect(await audit.list(did, 'app', 10)).toEqual([young])
  })
})

describe('UsedJwts', () => {
  const used = new UsedJwts(db)

  it('lets each be used once, also at once', async () => {
    const use = (issuer: string, jti: string) => used.use(issuer, jti, NOW, NOW + 1)
    const tries = await Promise.all(Array.from({ length: 5 }, () => use('did:plc:a', 'jti')))
    expect(tries.filter((isFirst) => isFirst)).toHaveLength(1)
    expect(await use('did:plc:b', 'jti')).toBe(true)
    expect(await use('did:plc:a', 'other')).toBe(true)
  })

  it('keeps those that are out of date no longer', async () => {
    await used.use('did:plc:c', 'late', NOW, NOW + 3)
    await used.use('did:plc:c', 'early', NOW, NOW + 2)
    expect(await used.use('did:plc:c', 'late', NOW + 2, NOW + 4)).toBe(false)
    expect(await used.use('did:plc:c', 'early', NOW + 2, NOW + 4)).toBe(true)
    const rows = await db.select().from(usedJwts)
    expect(rows.filter(({ expiresAt }) => expiresAt <= NOW + 2)).toEqual([])
  })
})

import { env } from 'cloudflare:test'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { BlockStore, blockReason, parseSubject, subjectText } from '../../../storage/operator/blocks.ts'
import { MirrorRegister } from '../../../storage/operator/mirror-register.ts'

const db = drizzle((env as unknown as Environment).DB)
const blocks = new BlockStore(db)
const register = new MirrorRegister(db)
const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const LATER = 'did:plc:abcdefghijklmnopqrstuvwy'

beforeEach(async () => {
  await db.run(sql`delete from blocks`)
  await db.run(sql`delete from mirrors`)
})

const block = (did: string, rkey: string | null, reason = '') => blocks.put({ did, rkey, reason, createdAt: 1 })

describe('BlockStore', () => {
  test('tells an account, and one of its repositories, from all others', async () => {
    await block(DID, 'app', 'spam')
    await block(LATER, null, 'worse')
    expect(await blocks.of(DID)).toEqual({ account: null, repositories: { app: 'spam' } })
    expect(blockReason(await blocks.of(DID), 'other')).toBe(null)
    expect(blockReason(await blocks.of(LATER), 'any')).toBe('worse')
    expect(await blocks.of(DID.slice(0, -1))).toEqual({ account: null, repositories: {} })
  })

  test('blocks what is blocked again with another reason, and takes it back once', async () => {
    await block(DID, 'app', 'one')
    expect(await blocks.put({ did: DID, rkey: 'app', reason: 'two', createdAt: 2 })).toMatchObject({
      reason: 'two',
      createdAt: 1,
    })
    expect(await blocks.remove({ did: DID, rkey: null })).toBe(false)
    expect(await blocks.remove({ did: DID, rkey: 'app' })).toBe(true)
    expect(await blocks.remove({ did: DID, rkey: 'app' })).toBe(false)
    expect(await blocks.count()).toBe(0)
  })

  test('lists page by page', async () => {
    for (const rkey of ['c', 'a', 'b', null]) await block(DID, rkey)
    const seen: string[] = []
    for (let page = await blocks.list(3); page.length > 0; page = await blocks.list(3, seen.at(-1))) {
      seen.push(...page.map(subjectText))
    }
    expect(seen).toEqual(['a', 'b', 'c'].map((rkey) => `at://${DID}/dev.skein.repo/${rkey}`).concat(DID))
  })
})

test.each([
  '',
  'did:plc:abc/x',
  `at://${DID}`,
  `at://${DID}/dev.skein.pack/x`,
  `at://${DID}/dev.skein.repo/a/b`,
  'alice.test',
])('%s is no subject as it is stored', (text) => {
  expect(parseSubject(text)).toBe(null)
})

describe('MirrorRegister', () => {
  test('exchanges how a mirror is with what there is to know of it', async () => {
    await block(DID, 'app', 'spam')
    await register.exchange({ did: DID, rkey: 'app', bytes: 10, usedAt: 5 }, true)
    const view = await register.exchange({ did: DID, rkey: 'other', bytes: 20, usedAt: 6 }, true)
    expect(view).toEqual({ blocks: { account: null, repositories: { app: 'spam' } }, othersBytes: 10 })
    await register.exchange({ did: DID, rkey: 'other', bytes: 99, usedAt: 9 }, false)
    expect(await register.bytesOf(DID)).toBe(30)
    expect(await register.totals()).toEqual({ mirrors: 2, bytes: 30 })
    expect(await register.keysOf(DID, 1, 'app')).toEqual(['other'])
    expect(await register.unusedSince(6, 10)).toEqual([{ did: DID, rkey: 'app' }])
    await register.exchange({ did: DID, rkey: 'other', bytes: 0, usedAt: 9 }, true)
    expect(await register.totals()).toEqual({ mirrors: 1, bytes: 10 })
    await register.remove({ did: DID, rkey: 'app' })
    expect(await register.totals()).toEqual({ mirrors: 0, bytes: 0 })
    expect(await register.keysOf(DID, 10)).toEqual(['other'])
  })
})

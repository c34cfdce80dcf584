import { env } from 'cloudflare:test'
import { drizzle } from 'drizzle-orm/d1'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CLOCK_SKEW, tidFromTime } from '../../../atproto/records/tid.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { D1IdentityCache } from '../../../storage/directory/identity-cache.ts'
import { RepositoryDirectory } from '../../../storage/directory/repository-directory.ts'
import { identities } from '../../../storage/directory/tables.ts'
import { RECORD } from '../mirror/in-mirror.ts'

const db = drizzle((env as unknown as Environment).DB)

describe('RepositoryDirectory', () => {
  const directory = new RepositoryDirectory(db)
  const NOW = 1_790_000_000_000
  const key = (milliseconds: number) => tidFromTime(milliseconds * 1000, 0)
  const entry = (rkey: string, name: string) => ({ rkey, record: { ...RECORD, name } })
  const [first, second] = [key(NOW - 3 * CLOCK_SKEW), key(NOW - 2 * CLOCK_SKEW)]
  let accounts = 0
  const account = () => `did:plc:account${accounts++}`

  it('finds what was listed, by name and by key, and lists it oldest first', async () => {
    const did = account()
    expect([await directory.find(did, 'app'), await directory.listedAt(did)]).toEqual([null, 0])
    await directory.replace(did, [entry(second, 'tool'), entry(first, 'app')], NOW)
    expect(await directory.find(did, 'app')).toEqual(entry(first, 'app'))
    expect(await directory.get(did, second)).toEqual(entry(second, 'tool'))
    expect((await directory.list(did)).map(({ rkey }) => rkey)).toEqual([first, second])
    expect(await directory.listedAt(did)).toBe(NOW)
    expect(await directory.list(account())).toEqual([])
  })

  it('gives a name that two records claim to the older one', async () => {
    const did = account()
    await directory.replace(did, [entry(second, 'app'), entry(first, 'app')], NOW)
    expect((await directory.find(did, 'app'))!.rkey).toBe(first)
  })

  it('drops what is listed no more, and takes over a new name', async () => {
    const did = account()
    await directory.replace(did, [entry(first, 'app'), entry(second, 'tool')], NOW - 1)
    await directory.replace(did, [entry(second, 'renamed')], NOW)
    expect(await directory.list(did)).toEqual([entry(second, 'renamed')])
  })

  it('keeps what was created while the listing was made', async () => {
    const did = account()
    await directory.put(did, entry(key(NOW - 60_000), 'new'))
    await directory.replace(did, [entry(first, 'app')], NOW)
    expect((await directory.list(did)).map(({ record }) => record.name)).toEqual(['app', 'new'])
    await directory.replace(did, [entry(first, 'app')], NOW + CLOCK_SKEW)
    expect((await directory.list(did)).map(({ record }) => record.name)).toEqual(['app'])
  })

  describe('what an isolate has looked up', () => {
    afterEach(() => {
      vi.useRealTimers()
    })

    /** A directory of another isolate. */
    const another = () => new RepositoryDirectory(db)

    it('is at hand for some seconds, with the time when the account was listed', async () => {
      vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
      const [did, here] = [account(), another()]
      await another().replace(did, [entry(first, 'app')], NOW - 5_000)
      expect(here.atHand(did, 'app')).toBe(null)
      expect(await here.lookUp(did, 'app')).toEqual({ entry: entry(first, 'app'), listedAt: NOW - 5_000 })
      expect(here.atHand(did, 'app')).toMatchObject({ entry: entry(first, 'app'), listedAt: NOW - 5_000 })
      expect(another().atHand(did, 'app')).toBe(null)
      vi.advanceTimersByTime(9_999)
      expect(here.atHand(did, 'app')).not.toBe(null)
      vi.advanceTimersByTime(1)
      expect(here.atHand(did, 'app')).toBe(null)
    })

    it('is forgotten once the isolate knows better', async () => {
      const [did, here] = [account(), another()]
      for (const change of [
        () => here.replace(did, [entry(first, 'renamed')], NOW),
        () => here.put(did, entry(first, 'renamed')),
      ]) {
        await another().replace(did, [entry(first, 'app')], NOW)
        await here.lookUp(did, 'app')
        expect(here.atHand(did, 'app')).not.toBe(null)
        await change()
        expect(here.atHand(did, 'app')).toBe(null)
        expect((await here.lookUp(did, 'app')).entry).toBe(null)
      }
    })

    it('is not kept where the directory has changed while it was read', async () => {
      const [did, here] = [account(), another()]
      await here.replace(did, [entry(first, 'app')], NOW)
      const reading = here.lookUp(did, 'app')
      await here.put(did, entry(first, 'renamed'))
      await reading
      expect(here.atHand(did, 'app')).toBe(null)
    })

    it('is never that there is no such name', async () => {
      const [did, here] = [account(), another()]
      expect(await here.lookUp(did, 'app')).toEqual({ entry: null, listedAt: 0 })
      await another().put(did, entry(first, 'app'))
      expect((await here.lookUp(did, 'app')).entry).toEqual(entry(first, 'app'))
    })
  })

  it('takes thousands of repositories at once', async () => {
    const did = account()
    const many = Array.from({ length: 3000 }, (_, i) => entry(key(NOW - 3 * CLOCK_SKEW + i), `app-${i}`))
    await directory.replace(did, many, NOW)
    expect((await directory.find(did, 'app-2999'))!.rkey).toBe(many[2999]!.rkey)
  })
})

describe('D1IdentityCache', () => {
  const cache = new D1IdentityCache(db)
  const alice = { did: 'did:plc:alice', handle: 'alice.test', pds: 'https://pds.test' }

  afterEach(() => {
    vi.useRealTimers()
  })

  it('gives what it was given until its time is over, and then drops it', async () => {
    vi.useFakeTimers({ now: 1_790_000_000_000, toFake: ['Date'] })
    await cache.put('alice.test', alice, 60)
    await cache.put('did:plc:alice', { ...alice, handle: null }, 120)
    expect(await cache.get('alice.test')).toEqual(alice)
    expect(await cache.get('bob.test')).toBe(null)
    vi.advanceTimersByTime(60_000)
    expect(await cache.get('alice.test')).toBe(null)
    await cache.prune()
    vi.setSystemTime(1_790_000_000_000)
    expect([await cache.get('alice.test'), await cache.get('did:plc:alice')]).toEqual([
      null,
      { ...alice, handle: null },
    ])
  })

  it('gives what an isolate has read or written without another look for ten seconds, and never longer than the row', async () => {
    vi.useFakeTimers({ now: 1_790_000_000_000, toFake: ['Date'] })
    const [writer, reader] = [new D1IdentityCache(db), new D1IdentityCache(db)]
    const both = async () => [await writer.get('carol.test'), await reader.get('carol.test')]
    await writer.put('carol.test', alice, 60)
    expect(await both()).toEqual([alice, alice])
    // The index has heard that nobody has it now.
    await db.delete(identities)
    vi.advanceTimersByTime(9_999)
    expect(await both()).toEqual([alice, alice])
    vi.advanceTimersByTime(1)
    expect(await both()).toEqual([null, null])
    await writer.put('carol.test', alice, 5)
    expect(await both()).toEqual([alice, alice])
    vi.advanceTimersByTime(5_000)
    expect(await both()).toEqual([null, null])
  })
})

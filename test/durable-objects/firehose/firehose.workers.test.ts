import { env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { ConfigError, type Environment, readUpstreams } from '../../../durable-objects/environment.ts'
import { Firehose } from '../../../durable-objects/firehose/firehose.ts'
import { parkPack, sweepParked } from '../../../durable-objects/firehose/park-pack.ts'
import { followUpstreams } from '../../../durable-objects/firehose/upstreams.ts'

const environment = env as unknown as Environment
/** Nobody listens there. */
const NOWHERE = 'ws://127.0.0.1:9/subscribe'

let objects = 0

function inObject(test: (start: (upstreams: string) => Firehose, state: DurableObjectState) => Promise<void>) {
  const stub = environment.FIREHOSE.get(environment.FIREHOSE.idFromName(`object ${++objects}`))
  return runInDurableObject(stub, (_, state) =>
    test((UPSTREAMS) => new Firehose(state, { ...environment, UPSTREAMS, ALLOW_PRIVATE_HOSTS: 'true' }), state),
  )
}

describe('the object of an upstream', () => {
  it('says what is wrong, and looks after itself', () =>
    inObject(async (start, state) => {
      const status = await start(NOWHERE).ensureFollowing(NOWHERE)
      expect(status).toMatchObject({
        upstream: NOWHERE,
        isConnected: false,
        lastError: { message: expect.any(String) },
      })
      await expect.poll(() => state.storage.getAlarm()).toBeLessThanOrEqual(Date.now() + 30_000)
      await state.storage.deleteAlarm()
    }))

  it('follows nothing that is not configured, or not any more', () =>
    inObject(async (start, state) => {
      expect(await start('').ensureFollowing(NOWHERE)).toBeNull()
      await start(NOWHERE).ensureFollowing(NOWHERE)
      await state.storage.deleteAlarm()
      const later = start('')
      await later.alarm()
      expect(await state.storage.getAlarm()).toBeNull()
    }))

  it('heeds what is applied also when it has slept', () =>
    inObject(async (start, state) => {
      const firehose = start(NOWHERE)
      await firehose.ensureFollowing(NOWHERE)
      state.storage.sql.exec('insert into batches (number, before, sent_at) values (4, 7, 0), (5, 9, 0)')
      start(NOWHERE).applied([4])
      expect(await start(NOWHERE).ensureFollowing(NOWHERE)).toMatchObject({ cursor: 9, pendingBatches: 0 })
      await state.storage.deleteAlarm()
    }))

  it('wants a listing of all accounts until one has begun', () =>
    inObject(async (start, state) => {
      const firehose = start(NOWHERE)
      await firehose.ensureFollowing(NOWHERE)
      state.storage.sql.exec("update following set reconcile = 'why', reconcile_at = 5")
      expect(await firehose.ensureFollowing(NOWHERE)).toMatchObject({ reconcileWanted: { reason: 'why', at: 5 } })
      firehose.reconcileBegun(4)
      expect(await firehose.ensureFollowing(NOWHERE)).toMatchObject({ reconcileWanted: { reason: 'why' } })
      firehose.reconcileBegun(5)
      expect(await firehose.ensureFollowing(NOWHERE)).toMatchObject({ reconcileWanted: null })
      await state.storage.deleteAlarm()
    }))
})

describe('the setting UPSTREAMS', () => {
  it('names each upstream once', async () => {
    const url = 'wss://relay.bsky.network/xrpc/com.atproto.sync.subscribeRepos'
    expect(
      readUpstreams({ ...environment, UPSTREAMS: ` ${url}\n${url} wss://jetstream1.us-east.bsky.network/subscribe ` }),
    ).toHaveLength(2)
    expect(readUpstreams(environment)).toEqual([])
    expect(await followUpstreams(environment)).toEqual([])
  })

  it.each(['relay', 'ws://localhost:1/subscribe', 'wss://relay.bsky.network/'])('refuses %s', (UPSTREAMS) => {
    expect(() => readUpstreams({ ...environment, UPSTREAMS })).toThrow(ConfigError)
  })
})

describe('parked packs', () => {
  it('are there once, and go when nobody has come for them', async () => {
    const { PACKS } = environment
    const pack = (n: number) => ({ key: `events/did:plc:x/r:${n}/rev`, bytes: new Uint8Array([n]) })
    await parkPack(PACKS, pack(1))
    await parkPack(PACKS, { ...pack(1), bytes: new Uint8Array([9]) })
    await parkPack(PACKS, pack(2))
    await PACKS.put('packs/did:plc:x/r/other.pack', 'stays')
    expect(new Uint8Array(await (await PACKS.get(pack(1).key))!.arrayBuffer())).toEqual(new Uint8Array([1]))
    expect(await sweepParked(PACKS, Date.now())).toBe(0)
    expect(await sweepParked(PACKS, Date.now() + 6 * 24 * 60 * 60_000)).toBe(2)
    expect((await PACKS.list()).objects.map(({ key }) => key)).toEqual(['packs/did:plc:x/r/other.pack'])
  })
})

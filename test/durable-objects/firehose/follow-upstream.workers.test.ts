import { encode, toBytes } from '@atcute/cbor'
import { describe, expect, it } from 'vitest'
import { SubscriptionRefusedError } from '../../../durable-objects/firehose/connect.ts'
import { commitFrame, encodeMessage, messageOf } from '../../atproto/firehose/frames.ts'
import { DID, inFirehose, jetstreamRecord, REV, settle, UPSTREAMS } from './in-firehose.ts'

const RELAY = `${UPSTREAMS.relay}?cursor=0`
const { jetstream: JETSTREAM, jetstreamV2: JETSTREAM_V2 } = UPSTREAMS
const NOW_SECONDS = 1_800_000_000

/** A message of a relay that says that an account is to be listed. */
const sync = (seq: number) => messageOf('#sync', { did: DID, rev: REV, seq, time: '2027-01-15T08:00:00Z' }).buffer
/** One that says nothing to us. */
const quiet = (seq: number) => messageOf('#unheard', { did: DID, seq, time: '2027-01-15T08:00:00Z' }).buffer

describe('following an upstream', () => {
  it('sends what comes within a moment as one batch, and moves on when it is applied', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      expect(firehose.socket.cursor).toBe(0)
      firehose.socket.send(sync(1), quiet(2), sync(3))
      await firehose.pass(199)
      expect(firehose.sent).toEqual([])
      await firehose.pass(1)
      expect(firehose.sent).toMatchObject([
        { kind: 'events', upstream: RELAY, batch: 1, events: [{ cursor: 1 }, { cursor: 3 }] },
      ])
      expect(firehose.follower.status()).toMatchObject({
        isConnected: true,
        cursor: 0,
        pendingBatches: 1,
        reconcileWanted: null,
      })
      firehose.follower.applied([1])
      expect(firehose.follower.status()).toMatchObject({ cursor: 3, pendingBatches: 0, oldestPendingAt: null })
    }))

  it('waits longer with what nobody waits for', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send(messageOf('#identity', { did: DID, seq: 1, time: 'x' }).buffer)
      await firehose.pass(1000)
      expect(firehose.sent).toEqual([])
      firehose.socket.send(sync(2))
      await firehose.pass(200)
      expect(firehose.rkeys).toEqual(['identity', 'sync'])
    }))

  it('moves on with a stream that says nothing, so that nothing is read again', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send(quiet(1), quiet(700))
      await firehose.pass(30_000)
      await firehose.tick()
      firehose.restart()
      await firehose.tick()
      expect(firehose.socket.cursor).toBe(700)
    }))

  it('takes nothing of accounts that the operator does not have mirrored, and moves on', () =>
    inFirehose(RELAY, async (firehose) => {
      firehose.unfollowed.add(DID)
      await firehose.tick()
      firehose.socket.send(sync(1), quiet(2), sync(700))
      await firehose.pass(30_000)
      expect(firehose.sent).toEqual([])
      await firehose.tick()
      firehose.restart()
      await firehose.tick()
      expect(firehose.socket.cursor).toBe(700)
    }))

  it('has all accounts listed where it begins at what happens now, once it is connected', () =>
    inFirehose(UPSTREAMS.relay, async (firehose) => {
      firehose.refusal = new Error('down')
      await firehose.tick()
      expect(firehose.store.reconcile()).toBeNull()
      firehose.refusal = null
      await firehose.pass(1000)
      expect(firehose.socket.cursor).toBeNull()
      const want = firehose.store.reconcile()!
      expect(want.reason).toContain('from now on')
      firehose.socket.send(quiet(55))
      await firehose.pass(1)
      firehose.store.doneReconcile(want.at)
      firehose.socket.end()
      await firehose.pass(1000)
      expect(firehose.socket.cursor).toBe(55)
      expect(firehose.store.reconcile()).toBeNull()
    }))

  it('splits what is too much for a message, and has the account listed of a record that is', () =>
    inFirehose(JETSTREAM, async (firehose) => {
      await firehose.tick()
      const large = (n: number) => jetstreamRecord(NOW_SECONDS + n, `r${n}`, { text: 'é'.repeat(20_000) })
      firehose.socket.send(
        large(1),
        large(2),
        large(3),
        jetstreamRecord(NOW_SECONDS + 4, 'huge', { text: 'x'.repeat(1_000_000) }),
      )
      await firehose.pass(200)
      expect(firehose.sent.map(({ events }) => events.length)).toEqual([2, 2])
      expect(firehose.rkeys).toEqual(['r1', 'r2', 'r3', 'sync'])
      expect(firehose.events[3]).toMatchObject({ kind: 'sync', did: DID, rev: REV })
      for (const message of firehose.sent) expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(128_000)
      expect(firehose.follower.status().counts).toMatchObject({ tooLarge: 1, events: 4, batches: 2 })
    }))

  it('lays the bytes of packs aside before it says that they are there', () =>
    inFirehose(RELAY, async (firehose) => {
      firehose.signers.of = async () => ({ key: null, pds: new URL(RELAY).origin.replace('wss:', 'https:'), readAt: 0 })
      firehose.mirrored.add(DID)
      await firehose.tick()
      const bytes = new Uint8Array(150_000).fill(3)
      const record = encode({ size: 150_000, bytes: toBytes(bytes) })
      const commit = await commitFrame(DID, REV, [{ action: 'create', path: `dev.skein.pack/${REV}:${REV}`, record }])
      const message = commit.buffer
      firehose.parkFault = new Error('R2 is not well')
      firehose.socket.send(message)
      await firehose.pass(300)
      expect(firehose.sent).toEqual([])
      expect(firehose.socket.isClosed).toBe(true)
      firehose.parkFault = null
      await firehose.pass(1000)
      firehose.socket.send(message)
      await firehose.pass(200)
      const key = `events/${DID}/${REV}:${REV}/${REV}`
      expect(firehose.events).toMatchObject([{ value: { size: 150_000 }, parked: key, isProven: true }])
      expect(firehose.events[0]).not.toHaveProperty('value.bytes')
      expect(firehose.parked.map(({ key }) => key)).toEqual([key])
      expect(Buffer.from(bytes).equals(firehose.parked[0]!.bytes)).toBe(true)
    }))

  it('leaves the bytes of packs out of repositories that nobody mirrors here', () =>
    inFirehose(RELAY, async (firehose) => {
      firehose.signers.of = async () => ({ key: null, pds: new URL(RELAY).origin.replace('wss:', 'https:'), readAt: 0 })
      await firehose.tick()
      const record = encode({ size: 3, bytes: toBytes(new Uint8Array(3)) })
      const { buffer } = await commitFrame(DID, REV, [
        { action: 'create', path: `dev.skein.pack/${REV}:${REV}`, record },
      ])
      firehose.socket.send(buffer)
      await firehose.pass(200)
      expect(firehose.events).toMatchObject([{ value: { size: 3 }, parked: null, isProven: true }])
      expect(firehose.events[0]).not.toHaveProperty('value.bytes')
      expect(firehose.parked).toEqual([])
    }))

  it('leaves the bytes of packs out that nobody has signed: the account is asked for them', () =>
    inFirehose(JETSTREAM, async (firehose) => {
      await firehose.tick()
      const record = { size: 3, bytes: { $bytes: 'AQID' } }
      const commit = { rev: REV, operation: 'create', collection: 'dev.skein.pack', rkey: `${REV}:${REV}`, record }
      firehose.socket.send(JSON.stringify({ did: DID, time_us: NOW_SECONDS * 1e6, kind: 'commit', commit }))
      await firehose.pass(200)
      expect(firehose.events).toMatchObject([{ value: { size: 3 }, parked: null }])
      expect(firehose.events[0]).not.toHaveProperty('value.bytes')
      expect(firehose.parked).toEqual([])
    }))
})

describe('what is not applied', () => {
  it('is read again after a minute, and each time later', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send(sync(1))
      await firehose.pass(200)
      const pauses: number[] = []
      for (let n = 0, last = firehose.now; n < 3; ) {
        await firehose.pass(10_000)
        await firehose.tick()
        if (firehose.rewinds.length === n) continue
        pauses.push(Math.round((firehose.now - last) / 60_000))
        n++
        await firehose.pass(0)
        expect(firehose.socket.cursor).toBe(0)
        firehose.socket.send(sync(1), sync(2))
        await firehose.pass(200)
        last = firehose.now
      }
      expect(pauses).toEqual([1, 2, 4])
      expect(firehose.sent.map(({ batch }) => batch)).toEqual([1, 2, 3, 4])
      firehose.follower.applied([4])
      expect(firehose.follower.status()).toMatchObject({ pendingBatches: 0, cursor: 2 })
    }))

  it('is waited for as long as others are applied that were sent before it', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      for (let seq = 1; seq <= 5; seq++) {
        firehose.socket.send(sync(seq))
        await firehose.pass(200)
      }
      for (let batch = 1; batch < 5; batch++) {
        await firehose.pass(50_000)
        firehose.follower.applied([batch])
        await firehose.tick()
      }
      expect(firehose.rewinds).toEqual([])
    }))

  it('is read again though later ones are applied: its message was lost', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      for (let seq = 1; seq <= 3; seq++) {
        firehose.socket.send(sync(seq))
        await firehose.pass(200)
      }
      await firehose.pass(50_000)
      firehose.follower.applied([2, 3])
      expect(firehose.follower.status()).toMatchObject({ cursor: 0, pendingBatches: 1 })
      await firehose.pass(10_000)
      await firehose.tick()
      expect(firehose.rewinds).toEqual([1])
      expect(firehose.socket.cursor).toBe(0)
    }))

  it('is read again by an object that has slept, also where it was never sent', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send(sync(1))
      await firehose.pass(200)
      firehose.applyAll()
      firehose.hold = new Promise(() => undefined)
      firehose.socket.send(sync(2))
      await firehose.pass(200)
      firehose.socket.send(sync(3))
      expect(firehose.follower.status()).toMatchObject({ pendingBatches: 1, cursor: 1 })
      firehose.restart()
      firehose.hold = null
      await firehose.tick()
      expect(firehose.socket.cursor).toBe(1)
      firehose.socket.send(sync(2), sync(3))
      await firehose.pass(200)
      expect(firehose.events.map((event) => event.cursor)).toEqual([1, 2, 3])
      // The number of a batch means that one for ever.
      firehose.follower.applied([2])
      expect(firehose.follower.status()).toMatchObject({ pendingBatches: 1 })
    }))

  it('is read again where the Queue did not take it', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.sendFault = new Error('the Queue is not well')
      firehose.socket.send(sync(1))
      await firehose.pass(200)
      expect(firehose.follower.status()).toMatchObject({ isConnected: false, pendingBatches: 0, cursor: 0 })
      expect(firehose.failures).toEqual(['the Queue is not well'])
      firehose.sendFault = null
      await firehose.pass(500)
      expect(firehose.socket.cursor).toBe(0)
      firehose.socket.send(sync(1))
      await firehose.pass(200)
      expect(firehose.rkeys).toEqual(['sync'])
    }))

  it('is bounded: nothing is read until half of it is applied', () =>
    inFirehose(
      RELAY,
      async (firehose) => {
        await firehose.tick()
        for (let seq = 1; seq <= 10; seq++) {
          firehose.socket.send(sync(seq))
          await firehose.pass(200)
        }
        expect(firehose.sent).toHaveLength(4)
        expect(firehose.socket.isClosed).toBe(true)
        await firehose.pass(30_000)
        await firehose.tick()
        expect(firehose.sockets).toHaveLength(1)
        const paused = { isConnected: false, isPaused: true, reachedAt: firehose.now }
        expect(firehose.follower.status()).toMatchObject(paused)
        firehose.follower.applied([1])
        await firehose.pass(0)
        expect(firehose.sockets).toHaveLength(1)
        firehose.follower.applied([2])
        await firehose.pass(0)
        expect(firehose.sockets).toHaveLength(2)
        expect(firehose.socket.cursor).toBe(4)
      },
      { pendingBatches: 4 },
    ))

  it('is bounded in memory too: a stream that is faster than its reader is read in pieces, all of it', () =>
    inFirehose(
      JETSTREAM,
      async (firehose) => {
        await firehose.tick()
        const large = (n: number) => jetstreamRecord(NOW_SECONDS + n, `r${n}`, { text: 'x'.repeat(50_000) })
        for (let n = 1; n <= 9; n++) firehose.socket.send(large(n))
        expect(firehose.sockets[0]?.isClosed).toBe(true)
        await firehose.pass(1000)
        // The first one is being read when the others come.
        expect(firehose.rkeys).toEqual(['r1', 'r2', 'r3', 'r4', 'r5'])
        expect(firehose.socket.cursor).toBe((NOW_SECONDS + 5 - 5) * 1e6)
      },
      { bufferedBytes: 400_000 },
    ))

  it.each([
    [1, 1],
    [100_000, 4],
  ])('is bounded in what is decoded of it at a time, and in its order (%s values)', (valuesAtOnce, together) =>
    inFirehose(
      RELAY,
      async (firehose) => {
        await firehose.tick()
        let [now, most] = [0, 0]
        const of = async () => {
          most = Math.max(most, ++now)
          await settle()
          now--
          return null
        }
        firehose.signers = { ...firehose.signers, of } as unknown as typeof firehose.signers
        const record = encode({ $type: 'dev.skein.repo', name: 'app' })
        for (let n = 1; n <= 5; n++) {
          const op = { action: 'create', path: `dev.skein.repo/r${n}`, record }
          firehose.socket.send((await commitFrame(DID, REV, [op], { seq: n })).buffer)
        }
        while (firehose.rkeys.length < 5) await firehose.pass(1000)
        expect(firehose.rkeys).toEqual(['r1', 'r2', 'r3', 'r4', 'r5'])
        expect(most).toBe(together)
      },
      { valuesAtOnce },
    ),
  )
})

describe('a connection', () => {
  it('that hangs is given up: soon where the stream says much, after minutes where it does not', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      for (let seq = 1; seq < 100; seq++) {
        firehose.socket.send(quiet(seq))
        await firehose.pass(100)
      }
      await firehose.pass(15_000)
      await firehose.tick()
      expect(firehose.sockets).toHaveLength(1)
      await firehose.pass(15_000)
      await firehose.tick()
      expect(firehose.sockets).toHaveLength(2)
      expect(firehose.sockets[0]?.isClosed).toBe(true)
      expect(firehose.socket.cursor).toBe(99)
      expect(firehose.failures).toEqual([])
    }))

  it('on which nothing ever came is given up after five minutes', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      await firehose.pass(299_000)
      await firehose.tick()
      expect(firehose.sockets).toHaveLength(1)
      await firehose.pass(1000)
      await firehose.tick()
      expect(firehose.sockets).toHaveLength(2)
    }))

  it('that ends at once is tried again, later each time, and what has come by it is not lost', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      const tries: number[] = []
      for (let seq = 1; seq <= 9; seq++) {
        firehose.socket.send(sync(seq))
        firehose.socket.end('closed with 1011')
        const [count, before] = [firehose.sockets.length, firehose.now]
        while (firehose.sockets.length === count) await firehose.pass(500)
        tries.push((firehose.now - before) / 1000)
        expect(firehose.socket.cursor).toBe(seq)
      }
      expect(tries).toEqual([0.5, 1, 2, 4, 8, 16, 32, 60, 60])
      expect(firehose.events.map(({ cursor }) => cursor)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(firehose.follower.status().lastError?.message).toBe('closed with 1011')
    }))

  it('is known to have been there by an object that wakes and finds nobody', () =>
    inFirehose(RELAY, async (firehose) => {
      const begun = firehose.now
      firehose.refusal = new Error('down')
      await firehose.tick()
      await firehose.pass(40_000)
      await firehose.tick()
      expect(firehose.follower.status()).toMatchObject({ isConnected: false, isPaused: false, reachedAt: begun })
      firehose.refusal = null
      await firehose.pass(30_000)
      await firehose.tick()
      const reached = firehose.now
      firehose.refusal = new Error('down')
      firehose.restart()
      await firehose.pass(40_000)
      await firehose.tick()
      expect(firehose.follower.status()).toMatchObject({ isConnected: false, lastFrameAt: null, reachedAt: reached })
    }))

  it('that has lasted is made again soon', () =>
    inFirehose(RELAY, async (firehose) => {
      firehose.refusal = new Error('down')
      await firehose.tick()
      await firehose.pass(20_000)
      firehose.refusal = null
      await firehose.pass(20_000)
      await firehose.pass(10_000)
      const before = firehose.sockets.length
      firehose.socket.end()
      await firehose.pass(500)
      expect(firehose.sockets).toHaveLength(before + 1)
    }))

  it('is there once, whoever comes by', () =>
    inFirehose(RELAY, async (firehose) => {
      await Promise.all([firehose.tick(), firehose.tick(), firehose.tick()])
      await firehose.tick()
      expect(firehose.sockets).toHaveLength(1)
      expect(Math.max(...firehose.wakes)).toBe(firehose.now + 30_000)
    }))

  it('of before says nothing any more', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      const old = firehose.socket
      old.end()
      await firehose.pass(500)
      old.isClosed = false
      old.send(sync(9))
      old.end()
      await firehose.pass(500)
      expect(firehose.sockets).toHaveLength(2)
      expect(firehose.sent).toEqual([])
    }))
})

describe('a cursor', () => {
  it('that is outdated has all accounts listed, and the stream goes on', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send(messageOf('#info', { name: 'OutdatedCursor' }).buffer, sync(500))
      await firehose.pass(200)
      const want = firehose.store.reconcile()!
      expect(want.reason).toContain('OutdatedCursor')
      expect(firehose.rkeys).toEqual(['sync'])
      // What is wanted again before it has begun is not done by it.
      firehose.store.wantReconcile('again', firehose.now)
      firehose.store.doneReconcile(want.at)
      expect(firehose.store.reconcile()?.reason).toBe('again')
    }))

  it('that is in the future is none: the stream has begun anew', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send(sync(500))
      await firehose.pass(200)
      const error = encodeMessage({
        header: { op: -1 },
        body: { error: 'FutureCursor', message: 'Cursor in the future.' },
      })
      firehose.socket.send(error.buffer)
      await firehose.pass(500)
      expect(firehose.sockets).toHaveLength(2)
      expect(firehose.socket.cursor).toBeNull()
      expect(firehose.store.reconcile()).not.toBeNull()
      firehose.socket.send(sync(3))
      await firehose.pass(200)
      firehose.applyAll()
      expect(firehose.follower.status()).toMatchObject({ cursor: 3, pendingBatches: 0 })
    }))

  it('of Jetstream that lies an hour before the first event was clamped', () =>
    inFirehose(JETSTREAM, async (firehose) => {
      await firehose.tick()
      expect(firehose.socket.cursor).toBe((NOW_SECONDS - 5) * 1e6)
      firehose.store.doneReconcile(firehose.store.reconcile()!.at)
      firehose.socket.send(jetstreamRecord(NOW_SECONDS, 'a'))
      await firehose.pass(200)
      firehose.socket.end()
      await firehose.pass(500)
      firehose.socket.send(jetstreamRecord(NOW_SECONDS + 3000, 'b'))
      await firehose.pass(200)
      expect(firehose.store.reconcile()).toBeNull()
      firehose.socket.end()
      await firehose.pass(1000)
      expect(firehose.socket.cursor).toBe((NOW_SECONDS + 3000 - 5) * 1e6)
      firehose.socket.send(jetstreamRecord(NOW_SECONDS + 7000, 'c'))
      await firehose.pass(200)
      expect(firehose.store.reconcile()?.reason).toContain('no longer')
      expect(firehose.rkeys).toEqual(['a', 'b', 'c'])
    }))

  it('of Jetstream v2 begins as a time, goes on as a number, and begins again where it is refused', () =>
    inFirehose(JETSTREAM_V2, async (firehose) => {
      const payload = { $type: 'x#sync', seq: 5000, did: DID, time: '', sync: { rev: REV } }
      await firehose.tick()
      expect(firehose.socket.cursor).toBe((NOW_SECONDS - 5) * 1e6)
      firehose.socket.send(JSON.stringify({ $type: 'message', payload }))
      await firehose.pass(200)
      firehose.applyAll()
      expect(firehose.follower.status()).toMatchObject({ cursor: 5000 })
      firehose.store.doneReconcile(firehose.store.reconcile()!.at)
      firehose.refusal = new SubscriptionRefusedError(400, 'CursorTooOld', 'the floor is 9000')
      firehose.socket.end()
      await firehose.pass(500)
      expect(firehose.socket.cursor).toBe(4000)
      firehose.refusal = null
      await firehose.pass(60_000)
      expect(firehose.socket.cursor).toBeGreaterThan(NOW_SECONDS * 1e6 - 6e6)
      expect(firehose.store.reconcile()).not.toBeNull()
    }))
})

describe('messages that cannot be read', () => {
  it('are counted, and stop nothing', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.socket.send('text', new ArrayBuffer(0), encode({ op: 1 }).buffer as ArrayBuffer, sync(4))
      await firehose.pass(200)
      expect(firehose.rkeys).toEqual(['sync'])
      expect(firehose.follower.status()).toMatchObject({ isConnected: true, counts: { unreadable: 3, frames: 4 } })
    }))

  it('an error ends the stream', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      const error = encodeMessage({ header: { op: -1 }, body: { error: 'ConsumerTooSlow', message: 'too slow' } })
      firehose.socket.send(sync(1), error.buffer)
      await firehose.pass(500)
      expect(firehose.failures).toEqual(['ConsumerTooSlow: too slow'])
      expect(firehose.rkeys).toEqual(['sync'])
      expect(firehose.socket.cursor).toBe(1)
    }))

  it('nothing is read by a follower that was stopped', () =>
    inFirehose(RELAY, async (firehose) => {
      await firehose.tick()
      firehose.follower.stop()
      firehose.socket.send(sync(1))
      await firehose.pass(60_000)
      await firehose.tick()
      await settle()
      expect(firehose.sent).toEqual([])
      expect(firehose.sockets).toHaveLength(1)
    }))
})

import { encode, toBytes, toCidLink } from '@atcute/cbor'
import { create as createCid } from '@atcute/cid'
import { Secp256k1PrivateKeyExportable } from '@atcute/crypto'
import { verifyRecord } from '@atcute/repo'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPublicKey } from '../../../atproto/firehose/commit-signature.ts'
import type { EventsFrame } from '../../../atproto/firehose/frame.ts'
import { proveEvents } from '../../../atproto/firehose/prove-events.ts'
import { decodeReposFrame } from '../../../atproto/firehose/repos-frame.ts'
import { Signers } from '../../../atproto/firehose/signers.ts'
import type { RecordEvent, StreamEvent } from '../../../atproto/firehose/stream-event.ts'
import type { SigningKey } from '../../../atproto/identity/did-document.ts'
import { IdentityResolver } from '../../../atproto/identity/identity-resolver.ts'
import { Random } from '../../git/random.ts'
import { type LocalAccount, startLocalAccount } from '../local-account.ts'
import {
  type Blocks,
  collectFrames,
  encodeMessage,
  parseMessage,
  type ReposMessage,
  readBlocks,
  writeBlocks,
} from './frames.ts'

const RELAY = 'https://relay.test'
const NOW = 1_800_000_000_000
const REPO = '3lzkoq5qq2s2a'
const BYTES = Buffer.alloc(3000, 7).toString('base64').replace(/=+$/, '')

let local: LocalAccount
let did: string
let key: SigningKey
let frames: Uint8Array<ArrayBuffer>[]

const resolver = () => new IdentityResolver({ plcUrl: local.atmosphere.plcUrl, allowPrivateHosts: true })

const post = async (nsid: string, body?: object) => {
  const headers = { authorization: `Bearer ${local.account.accessJwt}`, 'content-type': 'application/json' }
  const init =
    body === undefined ? { headers: { authorization: headers.authorization } } : { headers, body: JSON.stringify(body) }
  const answer = await fetch(`${local.atmosphere.pdsUrl}/xrpc/${nsid}`, { method: 'POST', ...init })
  if (!answer.ok) throw new Error(`${nsid}: ${await answer.text()}`)
}

/** A life: the stream of a PDS that two accounts have written to. */
beforeAll(async () => {
  local = await startLocalAccount()
  did = local.account.did
  const record = (collection: string, rkey: string, value: object) =>
    ({ action: 'create', collection, rkey, value: { $type: collection, ...value } }) as const
  const gone = (collection: string, rkey: string) => ({ action: 'delete', collection, rkey }) as const
  await local.applyWrites([record('dev.skein.repo', REPO, { name: 'app', description: 'a \u202e b', n: 2 ** 40 })])
  await local.applyWrites([
    record('dev.skein.pack', `${REPO}:3lzkoq5qq2s2b`, { bytes: { $bytes: BYTES }, size: 3000 }),
    record('dev.skein.ref', `${REPO}:abc:1`, { name: 'refs/heads/main', target: 'a'.repeat(40) }),
    record('app.bsky.feed.post', '3lzkoq5qq2s2c', { text: 'not ours', createdAt: '2026-12-01T00:00:00Z' }),
  ])
  // Many others, so that the tree has levels.
  for (let n = 0; n < 3; n++) {
    await local.applyWrites(
      Array.from({ length: 100 }, (_, i) => record('dev.skein.star', `star-${n}-${i}`, { subject: `${n} ${i}` })),
    )
  }
  await local.applyWrites([
    gone('dev.skein.ref', `${REPO}:abc:1`),
    record('dev.skein.ref', `${REPO}:abc:2`, { name: 'refs/heads/main' }),
  ])
  await local.applyWrites([{ ...record('dev.skein.repo', REPO, { name: 'renamed' }), action: 'update' }])
  await local.applyWrites([record('com.example.other', '3lzkoq5qq2s2d', { n: 1 })])
  await local.applyWrites(Array.from({ length: 50 }, (_, i) => gone('dev.skein.star', `star-1-${i}`)))
  await post('com.atproto.identity.updateHandle', { handle: 'alice-two.test' })
  await post('com.atproto.server.deactivateAccount', {})
  await post('com.atproto.server.activateAccount')
  await local.atmosphere.createAccount({ handle: 'carol.test', password: 'carol-password' })
  const url = `${local.atmosphere.pdsUrl.replace('http', 'ws')}/xrpc/com.atproto.sync.subscribeRepos?cursor=0`
  frames = await collectFrames(url, (frame) => parseMessage(frame).body.handle === 'carol.test')
  key = (await resolver().readSigningKey(did))!
}, 60_000)

afterAll(() => local[Symbol.asyncDispose]())

const decodeAll = () => frames.map((frame) => decodeReposFrame(frame, NOW)).filter((frame) => frame.kind === 'events')

const signersWith = (signingKey: SigningKey | null, pds: string | null = null) =>
  new Signers({
    readDocument: async () => ({ signingKey, pds }),
    now: () => NOW,
    sleep: () => new Promise(() => undefined),
  })

const prove = (frame: EventsFrame, signingKey: SigningKey | null = key) =>
  proveEvents(frame, signersWith(signingKey), RELAY)

/** Records as they are after all events, by path. */
function fold(events: readonly StreamEvent[]): Map<string, unknown> {
  const records = new Map<string, unknown>()
  for (const event of events) {
    if (event.kind !== 'record' || event.did !== did) continue
    const path = `${event.collection}/${event.rkey}`
    if (event.value === null) records.delete(path)
    else records.set(path, event.value)
  }
  return records
}

describe('the stream of a real PDS', () => {
  it('gives the records that the PDS lists, and none of other collections', async () => {
    const records = fold(decodeAll().flatMap(({ events }) => events))
    for (const collection of ['dev.skein.repo', 'dev.skein.pack', 'dev.skein.ref', 'dev.skein.star']) {
      const listed: [string, unknown][] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const url = `${local.atmosphere.pdsUrl}/xrpc/com.atproto.repo.listRecords?repo=${did}&collection=${collection}&limit=100&cursor=${cursor}`
        const page = (await (await fetch(url)).json()) as {
          cursor?: string
          records: { uri: string; value: unknown }[]
        }
        for (const { uri, value } of page.records) listed.push([uri.slice(`at://${did}/`.length), value])
        cursor = page.records.length === 0 ? undefined : page.cursor
      }
      expect(listed.length).toBeGreaterThan(0)
      expect([...records].filter(([path]) => path.startsWith(`${collection}/`)).sort()).toEqual(listed.sort())
    }
    expect([...records.keys()].filter((path) => !path.startsWith('dev.skein.'))).toEqual([])
  })

  it('tells of identities and accounts', () => {
    const events = decodeAll().flatMap(({ events }) => events)
    expect(events.filter((event) => event.kind === 'identity' && event.did === did).length).toBeGreaterThanOrEqual(2)
    const states = events.filter((event) => event.kind === 'account' && event.did === did)
    expect(states.slice(-2)).toMatchObject([
      { isActive: false, status: 'deactivated' },
      { isActive: true, status: null },
    ])
  })

  it('moves on with every message, also with those that say nothing', () => {
    const cursors = decodeAll().map(({ cursor }) => cursor)
    expect(cursors).toHaveLength(frames.length)
    expect(cursors).toEqual(cursors.toSorted((a, b) => a - b))
    expect(decodeAll().every(({ time }) => Math.abs(time - Date.now()) < 600_000)).toBe(true)
  })

  it('is proven, deletions too, by the key of the DID document, and by no other', async () => {
    const other = await (await Secp256k1PrivateKeyExportable.createKeypair()).exportPublicKey('multikey')
    for (const frame of decodeAll()) {
      const records = (events: readonly StreamEvent[]) => events.filter((event) => event.kind === 'record')
      expect(records(frame.events).every(({ isProven }) => !isProven)).toBe(true)
      expect(records(await prove(frame)).every(({ isProven }) => isProven)).toBe(true)
      for (const wrong of [{ type: 'Multikey', publicKeyMultibase: other }, null])
        expect(records(await prove(frame, wrong)).some(({ isProven }) => isProven)).toBe(false)
    }
  })

  it('has nothing proven that the library does not prove', async () => {
    const publicKey = (await readPublicKey(key))!
    expect(publicKey).not.toBeNull()
    let compared = 0
    for (const [i, frame] of frames.entries()) {
      const decoded = decodeReposFrame(frame, NOW)
      if (decoded.kind !== 'events' || decoded.commit === null || i % 3 > 0) continue
      const { blocks, commit } = parseMessage(frame).body
      const carBytes = new Uint8Array(Buffer.from((await writeBlocks(commit, readBlocks(blocks))).$bytes, 'base64'))
      for (const event of (await prove(decoded)) as RecordEvent[]) {
        if (event.value === null) continue
        const { collection, rkey } = event
        const { record } = await verifyRecord({ did: did as 'did:plc:x', collection, rkey, publicKey, carBytes })
        expect(JSON.parse(JSON.stringify(record))).toEqual(event.value)
        compared++
      }
    }
    expect(compared).toBeGreaterThan(0)
  })

  it('is believed where the upstream is the PDS of the account, without a key', async () => {
    const signers = signersWith(null, local.atmosphere.pdsUrl)
    const frame = decodeAll().find(({ commit }) => commit !== null)!
    const [event] = await proveEvents(frame, signers, local.atmosphere.pdsUrl)
    expect(event).toMatchObject({ isProven: true })
    expect((await proveEvents(frame, signers, RELAY))[0]).toMatchObject({ isProven: false })
  })
})

interface Forgery {
  readonly message: ReposMessage
  readonly blocks: Blocks
  readonly ops: { action: string; path: string; cid: unknown }[]
}

/** A message of the stream, changed. @returns whether its events are proven */
async function forge(of: (event: RecordEvent) => boolean, change: (forgery: Forgery) => unknown): Promise<boolean[]> {
  const original = frames.find((frame) => {
    const decoded = decodeReposFrame(frame, NOW)
    return decoded.kind === 'events' && decoded.events.some((event) => event.kind === 'record' && of(event))
  })!
  const message = parseMessage(original)
  const blocks = readBlocks(message.body.blocks)
  await change({ message, blocks, ops: message.body.ops as Forgery['ops'] })
  message.body.blocks = await writeBlocks(message.body.commit, blocks)
  const decoded = decodeReposFrame(encodeMessage(message), NOW)
  if (decoded.kind !== 'events') throw new Error(decoded.kind)
  return (await prove(decoded)).map((event) => event.kind === 'record' && event.isProven)
}

const linkOf = (cid: unknown) => (cid as { $link: string }).$link
const isRepo = ({ collection, value }: RecordEvent) => collection === 'dev.skein.repo' && value !== null
const isMove = ({ collection, value }: RecordEvent) => collection === 'dev.skein.ref' && value === null
const isStar = ({ collection, value }: RecordEvent) => collection === 'dev.skein.star' && value !== null

describe('what a relay has made up', () => {
  it('is not proven: nothing is changed in the control', async () => {
    expect(await forge(isRepo, () => undefined)).toEqual([true])
    expect(await forge(isMove, () => undefined)).toEqual([true, true])
  })

  it.each<[string, (event: RecordEvent) => boolean, (forgery: Forgery) => unknown]>([
    [
      'another record under the CID of the true one',
      isRepo,
      ({ blocks, ops }) => {
        blocks.get(linkOf(ops[0]!.cid))!.data = encode({ $type: 'dev.skein.repo', name: 'theirs' })
      },
    ],
    [
      'another record under its own CID',
      isRepo,
      async ({ blocks, ops }) => {
        const data = encode({ $type: 'dev.skein.repo', name: 'theirs' })
        const cid = await createCid(0x71, data)
        const link = toCidLink(cid)
        blocks.set(link.$link, { cid: cid.bytes as Uint8Array<ArrayBuffer>, data })
        ops[0]!.cid = link
      },
    ],
    ['a record at another path', isRepo, ({ ops }) => (ops[0]!.path = 'dev.skein.repo/3lzkoq5qq2s2z')],
    ['a deletion of what is there', isRepo, ({ ops }) => Object.assign(ops[0]!, { action: 'delete', cid: null })],
    ['a commit of another revision', isRepo, ({ message }) => (message.body.rev = '3lzkoq5qq2s2z')],
    ['a commit of another account', isRepo, ({ message }) => (message.body.repo = 'did:plc:abcdefghijklmnopqrstuvwx')],
    [
      'a commit with another signature',
      isRepo,
      async ({ message, blocks }) => {
        const commit = parseBlock(blocks, message.body.commit)
        await replaceCommit(message, blocks, { ...commit, sig: toBytes(new Uint8Array(64).fill(1)) })
      },
    ],
    [
      'a commit with no signature to speak of',
      isRepo,
      async ({ message, blocks }) => {
        const commit = parseBlock(blocks, message.body.commit)
        await replaceCommit(message, blocks, { ...commit, sig: toBytes(new Uint8Array(3)) })
      },
    ],
    [
      'a tree of other records under a signed commit',
      isRepo,
      ({ message, blocks }) => {
        const { data } = parseBlock(blocks, message.body.commit)
        blocks.get(linkOf(data))!.data = encode({ l: null, e: [] })
      },
    ],
    [
      'a commit without its tree',
      isRepo,
      ({ message, blocks }) => blocks.delete(linkOf(parseBlock(blocks, message.body.commit).data)),
    ],
    ['a commit without its object', isRepo, ({ message, blocks }) => blocks.delete(linkOf(message.body.commit))],
  ])('%s', async (_, of, change) => {
    expect(await forge(of, change)).toEqual([false])
  })

  it('one record among true ones: the others are proven', async () => {
    const proven = await forge(isStar, ({ ops }) => (ops[1]!.path = 'dev.skein.star/made-up'))
    expect(proven.filter((isProven) => !isProven)).toHaveLength(1)
    expect(proven).toHaveLength(100)
  })

  it('a deletion where the tree does not lead: it is not told', async () => {
    const proven = await forge(isMove, ({ message, blocks }) => {
      const { data } = parseBlock(blocks, message.body.commit)
      for (const [cid] of blocks) if (cid !== linkOf(data) && cid !== linkOf(message.body.commit)) blocks.delete(cid)
      message.body.ops = [(message.body.ops as { action: string }[]).find(({ action }) => action === 'delete')]
    })
    expect(proven).toEqual([false])
  })

  it('any byte of a message: nothing is proven that was not signed, and nothing is thrown', async () => {
    const random = new Random(5)
    const whole = decodeAll().flatMap(({ events }) => events)
    const truth = new Set(whole.map((event) => JSON.stringify({ ...event, cursor: 0, time: 0, isProven: true })))
    const written = new Set(
      whole.flatMap((event) => (event.kind === 'record' && event.value !== null ? event.rkey : [])),
    )
    const commits = frames.filter((frame) => parseMessage(frame).header.t === '#commit' && frame.length < 20_000)
    for (let n = 0; n < 1500; n++) {
      const frame = new Uint8Array(random.pick(commits))
      for (let changes = 1 + random.below(3); changes > 0; changes--)
        frame[random.below(frame.length)] = random.below(256)
      const decoded = decodeReposFrame(random.chance(0.1) ? frame.slice(0, random.below(frame.length)) : frame, NOW)
      if (decoded.kind !== 'events') continue
      for (const event of await prove(decoded)) {
        if (event.kind !== 'record' || !event.isProven) continue
        // That there is no record of a name that was made up is true.
        if (event.value === null && !written.has(event.rkey)) continue
        expect(truth).toContain(JSON.stringify({ ...event, cursor: 0, time: 0 }))
      }
    }
  })
})

function parseBlock(blocks: Blocks, cid: unknown): Record<string, unknown> {
  return parseMessage(new Uint8Array(Buffer.concat([encode(0), blocks.get(linkOf(cid))!.data]))).body
}

async function replaceCommit(message: ReposMessage, blocks: Blocks, commit: Record<string, unknown>): Promise<void> {
  const data = encode(commit)
  const cid = await createCid(0x71, data)
  blocks.delete(linkOf(message.body.commit))
  message.body.commit = toCidLink(cid)
  blocks.set(linkOf(message.body.commit), { cid: cid.bytes as Uint8Array<ArrayBuffer>, data })
}

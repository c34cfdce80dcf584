import { createHash } from 'node:crypto'
import { encode, toBytes, toCidLink } from '@atcute/cbor'
import { type Cid, fromDigest } from '@atcute/cid'
import { PACK_COLLECTION, REF_COLLECTION } from '../../atproto/records/collections.ts'
import { packKey, refKey } from '../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../atproto/records/tid.ts'
import { syntheticRepositories } from './synthetic-repositories.ts'

/** What a push of one branch is on the stream, in one commit: a pack, a ref that goes, and the ref that takes its place. */
export const EVENTS_PER_PUSH = 3
const BRANCH = 'refs/heads/main'
/** The first push was so long ago: what is much older is not believed. Milliseconds. */
const SINCE = 60 * 60_000
/** Between two pushes, in milliseconds. */
const INTERVAL = 20

interface Pushed {
  readonly did: string
  readonly rkey: string
}

interface Operation {
  readonly action: 'create' | 'delete'
  readonly collection: string
  readonly rkey: string
  readonly record?: object
}

interface PushFacts {
  readonly rkey: string
  readonly refSeq: number
  readonly pack: string
  readonly rev: string
  readonly time: number
}

/**
 * Pushes to the first of the synthetic repositories, in turn, as their own host tells of them
 * (`com.atproto.sync.subscribeRepos`): the same each time.
 */
export class SyntheticPushes {
  readonly #repositories: readonly Pushed[]
  /** When the first one was. Milliseconds since 1970. */
  readonly start = Date.now() - SINCE

  /** @param repositories how many are pushed to */
  constructor(repositories: number) {
    this.#repositories = [...syntheticRepositories(repositories)].map(({ did, rkey }) => ({ did, rkey }))
  }

  /** The message of a commit, by its number from 1 up. */
  message(seq: number): Buffer {
    const push = seq - 1
    const { did, rkey } = this.#repositories[push % this.#repositories.length]!
    const time = this.start + push * INTERVAL
    const rev = tidFromTime(time * 1000, 0)
    // The one that a repository begins with is its first.
    const refSeq = Math.floor(push / this.#repositories.length) + 1
    const blocks: Block[] = []
    const ops = operations({ rkey, refSeq, pack: packKey(rkey, rev), rev, time }).map((operation) => {
      const path = `${operation.collection}/${operation.rkey}`
      if (operation.record === undefined) return { action: operation.action, path, cid: null }
      const block = blockOf(operation.record)
      blocks.push(block)
      return { action: operation.action, path, cid: linkOf(block) }
    })
    // Of an account's own host nobody looks at it.
    const root = blockOf({ did, rev })
    const body = { seq, repo: did, rev, time: iso(time), tooBig: false, ops, commit: linkOf(root) }
    const car = carOf(root, blocks)
    return Buffer.concat([HEADER, encode({ ...body, blocks: toBytes(car) })])
  }
}

const HEADER = encode({ op: 1, t: '#commit' })

function operations({ rkey, refSeq, pack, rev, time }: PushFacts): Operation[] {
  const digest = createHash('sha1').update(pack).digest('hex')
  const bytes = { $bytes: Buffer.alloc(300, digest).toString('base64').replace(/=+$/, '') }
  const packed = { bytes, size: 300, objects: 3, checksum: digest, thin: true, createdAt: iso(time) }
  const moved = { name: BRANCH, target: digest, seq: refSeq + 1, pack, landing: rev }
  return [
    { action: 'create', collection: PACK_COLLECTION, rkey: pack, record: { $type: PACK_COLLECTION, ...packed } },
    { action: 'delete', collection: REF_COLLECTION, rkey: refKey(rkey, BRANCH, refSeq) },
    {
      action: 'create',
      collection: REF_COLLECTION,
      rkey: refKey(rkey, BRANCH, refSeq + 1),
      record: { $type: REF_COLLECTION, ...moved },
    },
  ]
}

interface Block {
  readonly cid: Cid
  readonly data: Uint8Array
}

const DAG_CBOR = 0x71

/** A value as it is stored, and its CID. */
function blockOf(value: object): Block {
  const data = encode(value)
  return { cid: fromDigest(DAG_CBOR, createHash('sha256').update(data).digest()), data }
}

const linkOf = ({ cid }: Block) => toCidLink(cid)

/** https://ipld.io/specs/transport/car/carv1/ */
function carOf(root: Block, blocks: readonly Block[]): Uint8Array<ArrayBuffer> {
  const header = encode({ version: 1, roots: [linkOf(root)] })
  const sections = [root, ...blocks].flatMap(({ cid: { bytes }, data }) => [
    varint(bytes.length + data.length),
    bytes,
    data,
  ])
  return new Uint8Array(Buffer.concat([varint(header.length), header, ...sections]))
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | (rest < 128 ? 0 : 128))
    if (rest < 128) return Buffer.from(bytes)
  }
}

const iso = (time: number) => new Date(time).toISOString()

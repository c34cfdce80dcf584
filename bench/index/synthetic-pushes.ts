import { createHash } from 'node:crypto'
import { PACK_COLLECTION, REF_COLLECTION } from '../../atproto/records/collections.ts'
import { packKey, refKey } from '../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../atproto/records/tid.ts'
import { syntheticRepositories } from './synthetic-repositories.ts'

/** What a push of one branch is on the stream: a pack, a ref that goes, and the ref that takes its place. */
export const EVENTS_PER_PUSH = 3
const BRANCH = 'refs/heads/main'
/** Milliseconds since 1970, after all that the synthetic repositories have of their own. */
const START = 1_795_000_000_000
/** Between two pushes, in milliseconds. */
const INTERVAL = 20

interface Pushed {
  readonly did: string
  readonly rkey: string
}

/** Pushes to the first of the synthetic repositories, in turn, as a Jetstream (v2) tells of them: the same each time. */
export class SyntheticPushes {
  readonly #repositories: readonly Pushed[]

  /** @param repositories how many are pushed to */
  constructor(repositories: number) {
    this.#repositories = [...syntheticRepositories(repositories)].map(({ did, rkey }) => ({ did, rkey }))
  }

  /** The event of a number from 1 up, as the message that it comes in. */
  message(seq: number): string {
    const push = Math.floor((seq - 1) / EVENTS_PER_PUSH)
    const { did, rkey } = this.#repositories[push % this.#repositories.length]!
    const time = START + push * INTERVAL
    const rev = tidFromTime(time * 1000, 0)
    // The one that a repository begins with is its first.
    const refSeq = Math.floor(push / this.#repositories.length) + 1
    const pack = packKey(rkey, rev)
    const commit = { ...this.#operation((seq - 1) % EVENTS_PER_PUSH, { rkey, refSeq, pack, rev, time }), did, rev }
    const payload = { $type: 'network.bsky.jetstream.subscribeEvents#commit', seq, witnessedAt: iso(time), ...commit }
    return JSON.stringify({ $type: 'message', payload })
  }

  #operation(
    number: number,
    {
      rkey,
      refSeq,
      pack,
      rev,
      time,
    }: { readonly rkey: string; refSeq: number; pack: string; rev: string; time: number },
  ) {
    const digest = createHash('sha1').update(`${pack}`).digest('hex')
    switch (number) {
      case 0: {
        const bytes = { $bytes: Buffer.alloc(300, digest).toString('base64').replace(/=+$/, '') }
        const record = {
          $type: PACK_COLLECTION,
          bytes,
          size: 300,
          objects: 3,
          checksum: digest,
          thin: true,
          createdAt: iso(time),
        }
        return { operation: 'create', collection: PACK_COLLECTION, rkey: pack, record }
      }
      case 1:
        return { operation: 'delete', collection: REF_COLLECTION, rkey: refKey(rkey, BRANCH, refSeq) }
      default: {
        const record = { $type: REF_COLLECTION, name: BRANCH, target: digest, seq: refSeq + 1, pack, landing: rev }
        return { operation: 'create', collection: REF_COLLECTION, rkey: refKey(rkey, BRANCH, refSeq + 1), record }
      }
    }
  }
}

const iso = (time: number) => new Date(time).toISOString()

import type { RecordEvent } from '../../../atproto/firehose/stream-event.ts'
import {
  PACK_COLLECTION,
  REF_COLLECTION,
  REFS_COLLECTION,
  REPO_COLLECTION,
} from '../../../atproto/records/collections.ts'
import { packKey, refKey, refsKey } from '../../../atproto/records/record-keys.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { AccountSnapshot } from '../../../storage/index/index-types.ts'
import { hostileRecords } from './hostile-records.ts'

/** Milliseconds since 1970. */
export const START = 1_795_000_000_000
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const WORDS = ['git', 'app', 'server', 'my-App', 'toolKit', 'dotfiles', 'Sky_net', 'naïve', 'lib2', 'XMLParser']

/** Numbers below a bound, the same for each seed. */
export function randomNumbers(seed: number): (bound: number) => number {
  let state = seed >>> 0
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

export function didOf(n: number): string {
  let text = ''
  for (let rest = n; text.length < 24; rest = Math.floor(rest / 32)) text += BASE32[rest % 32]
  return `did:plc:${text}`
}

interface Repository {
  readonly rkey: string
  readonly refs: Map<string, number>
}

/** An account that writes, deletes, errs and attacks, one commit after the other. */
export class RandomAccount {
  readonly did: string
  readonly records = new Map<string, { collection: string; rkey: string; value: unknown }>()
  readonly events: RecordEvent[] = []
  readonly #random: (bound: number) => number
  readonly #repositories: Repository[] = []
  #time = START
  rev = tidFromTime(START * 1000, 0)

  constructor(n: number, random: (bound: number) => number) {
    this.did = didOf(n)
    this.#random = random
  }

  commit(): void {
    this.#time += 1 + this.#random(60_000)
    this.rev = this.#tid()
    const [repository] = this.#repositories.splice(this.#random(this.#repositories.length || 1), 1)
    const kind = this.#random(12)
    if (repository === undefined || kind === 0) {
      this.#create()
      if (repository !== undefined) this.#repositories.push(repository)
      return
    }
    if (kind === 1) {
      this.#delete(REPO_COLLECTION, repository.rkey)
      if (this.#random(2) === 0) return
      // Its refs and packs are left, or it comes back with the next commit: none has a record twice.
      this.#time += 1
      this.rev = this.#tid()
      this.#put(REPO_COLLECTION, repository.rkey, this.#repo())
    } else if (kind === 2) this.#put(REPO_COLLECTION, repository.rkey, this.#repo())
    else if (kind === 3) this.#attack()
    else if (kind === 4) this.#shard(repository)
    else this.#push(repository)
    this.#repositories.push(repository)
  }

  /** @param listedAt milliseconds since 1970 */
  snapshot(listedAt: number): AccountSnapshot {
    return {
      did: this.did,
      handle: null,
      pds: 'https://pds.test',
      isActive: true,
      status: null,
      rev: this.rev,
      listedAt,
      records: [...this.records.values()],
    }
  }

  #tid(): string {
    return tidFromTime(this.#time * 1000 + this.#random(1000), this.#random(1024))
  }

  #repo() {
    const record = {
      $type: REPO_COLLECTION,
      name: `${WORDS[this.#random(WORDS.length)]}${this.#random(3)}`,
      description: `about ${WORDS[this.#random(WORDS.length)]}`,
      topics: [WORDS[this.#random(WORDS.length)]!],
      defaultBranch: 'main',
      objectFormat: 'sha1',
      createdAt: new Date(this.#time).toISOString(),
    }
    return this.#random(8) === 0 ? { ...record, objectFormat: 'sha256' } : record
  }

  #create(): void {
    const rkey = this.#tid()
    this.#repositories.push({ rkey, refs: new Map() })
    this.#put(REPO_COLLECTION, rkey, this.#repo())
    this.#put(REFS_COLLECTION, refsKey(rkey, 0, 1), { $type: REFS_COLLECTION, entries: [] })
  }

  #push({ rkey, refs }: Repository): void {
    const name = `refs/heads/${WORDS[this.#random(WORDS.length)]!.toLowerCase()}`
    const seq = refs.get(name) ?? 0
    const pack = packKey(rkey, this.#tid())
    if (this.#random(4) > 0) {
      const size = 32 + this.#random(1000)
      this.#put(PACK_COLLECTION, pack, {
        $type: PACK_COLLECTION,
        bytes: { $bytes: Buffer.alloc(size).toString('base64') },
        size,
        objects: 1,
        checksum: '0'.repeat(40),
        thin: false,
        createdAt: new Date(this.#time).toISOString(),
      })
    }
    if (seq > 0) this.#delete(REF_COLLECTION, refKey(rkey, name, seq))
    this.#put(REF_COLLECTION, refKey(rkey, name, seq + 1), {
      $type: REF_COLLECTION,
      name,
      seq: seq + 1,
      ...(this.#random(5) === 0 ? {} : { target: `${this.#random(10)}`.repeat(40) }),
      ...(this.#random(3) === 0 ? {} : { landing: this.#tid() }),
      ...(this.#random(3) === 0 ? {} : { pack }),
    })
    refs.set(name, seq + 1)
  }

  #shard({ rkey }: Repository): void {
    const shard = 64 + this.#random(3)
    const own = [...this.records.values()].find(
      (record) => record.collection === REFS_COLLECTION && record.rkey.startsWith(`${rkey}:${shard}:`),
    )
    const seq = Number(own?.rkey.split(':')[2] ?? 0)
    if (own !== undefined) this.#delete(REFS_COLLECTION, own.rkey)
    const entries = Array.from({ length: this.#random(4) }, (_, i) => ({
      name: `refs/tags/v${i}`,
      target: '1'.repeat(40),
      seq: 1,
    }))
    this.#put(REFS_COLLECTION, refsKey(rkey, shard, seq + 1), { $type: REFS_COLLECTION, entries, landing: this.#tid() })
  }

  #attack(): void {
    const all = hostileRecords(this.#tid())
    const { collection, rkey, value } = all[this.#random(all.length)]!
    this.#put(collection, rkey, value)
  }

  #put(collection: string, rkey: string, value: unknown): void {
    this.records.set(`${collection}/${rkey}`, { collection, rkey, value })
    this.#tell(collection, rkey, value)
  }

  #delete(collection: string, rkey: string): void {
    this.records.delete(`${collection}/${rkey}`)
    this.#tell(collection, rkey, null)
  }

  #tell(collection: string, rkey: string, value: unknown): void {
    const { did, rev } = this
    const base = { kind: 'record', did, cursor: this.events.length, time: this.#time, isProven: true } as const
    // As the stream has it: the bytes of a pack lie elsewhere.
    if (collection === PACK_COLLECTION && value !== null && (value as { bytes?: unknown }).bytes !== undefined) {
      const { bytes: _, ...rest } = value as Record<string, unknown>
      this.events.push({ ...base, collection, rkey, rev, value: rest, parked: 'parked/1' })
    } else this.events.push({ ...base, collection, rkey, rev, value })
  }
}

/** In an order of chance, some more than once. */
export function shuffled<T>(values: readonly T[], random: (bound: number) => number): T[] {
  const all = [...values, ...values.filter(() => random(4) === 0)]
  for (let i = all.length - 1; i > 0; i--) {
    const j = random(i + 1)
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}

export function batches<T>(values: readonly T[], random: (bound: number) => number): T[][] {
  const all: T[][] = []
  for (let at = 0; at < values.length; ) {
    const end = at + 1 + random(200)
    all.push(values.slice(at, end))
    at = end
  }
  return all
}

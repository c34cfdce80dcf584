import { createGuardedFetch } from '../../../atproto/network/guarded-fetch.ts'
import { PdsClient } from '../../../atproto/pds/pds-client.ts'
import type { Write } from '../../../atproto/pds/write.ts'
import { PACK_COLLECTION, REF_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { encodePackRecord } from '../../../atproto/records/pack-record.ts'
import { packKey, refKey } from '../../../atproto/records/record-keys.ts'
import { encodeRefRecord } from '../../../atproto/records/ref-record.ts'
import { encodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import { TidClock } from '../../../atproto/records/tid.ts'
import type { Account } from '../../../dev/atmosphere.ts'
import type { World } from '../harness.ts'
import type { WorkingCopy } from '../working-copy.ts'

const tids = new TidClock()

/** Writes into an account as another client would: past the edge, which hears of it by the stream alone. */
export class DirectWriter {
  readonly #client: PdsClient
  readonly #account: Account
  /** Seqs of refs, by repository and name. */
  readonly #seqs = new Map<string, { seq: number; target: string | null }>()

  constructor({ atmosphere }: World, account: Account) {
    const fetch = createGuardedFetch({ allowPrivateHosts: true })
    this.#client = new PdsClient({ service: atmosphere.pdsUrl, fetch, account: account.did })
    this.#account = account
  }

  async write(writes: readonly Write[]): Promise<void> {
    await this.#client.applyWrites(this.#account.did, writes, this.#account.accessJwt)
  }

  /** @returns its record key */
  async createRepository(name: string, more: { description?: string; topics?: string[] } = {}): Promise<string> {
    const rkey = tids.next()
    await this.write([{ action: 'create', collection: REPO_COLLECTION, rkey, value: repoValue(name, more) }])
    return rkey
  }

  async updateRepository(rkey: string, name: string, more: { description?: string } = {}): Promise<void> {
    await this.write([{ action: 'update', collection: REPO_COLLECTION, rkey, value: repoValue(name, more) }])
  }

  async deleteRepository(rkey: string): Promise<void> {
    await this.write([{ action: 'delete', collection: REPO_COLLECTION, rkey }])
  }

  /**
   * Pushes what HEAD is in the working copy to a ref. The pack is thin where the ref was pushed before.
   *
   * @param isBlob whether the pack's bytes are a blob, and not in its record
   * @returns the commit
   */
  async push(repo: string, work: WorkingCopy, name = 'refs/heads/main', isBlob = false): Promise<string> {
    const known = this.#seqs.get(`${repo} ${name}`) ?? { seq: 0, target: null }
    const target = await work.resolve('HEAD')
    const revisions = known.target === null ? `${target}\n` : `${target}\n^${known.target}\n`
    const packing = ['pack-objects', '--revs', '--thin', '--delta-base-offset', '--stdout', '--quiet']
    const bytes = (await work.tryWith({ input: revisions }, ...packing)).output
    const tid = tids.next()
    const content = isBlob ? { parts: [await this.#client.uploadBlob(bytes, this.#account.accessJwt)] } : { bytes }
    const pack = encodePackRecord({
      ...content,
      size: bytes.length,
      objects: bytes.readUInt32BE(8),
      checksum: bytes.subarray(-20).toString('hex'),
      thin: known.target !== null,
      createdAt: new Date().toISOString(),
    })
    const seq = known.seq + 1
    const move = encodeRefRecord({ name, target, seq, pack: packKey(repo, tid), landing: tids.next() })
    await this.write([
      { action: 'create', collection: PACK_COLLECTION, rkey: packKey(repo, tid), value: pack },
      ...(known.seq === 0
        ? []
        : [{ action: 'delete' as const, collection: REF_COLLECTION, rkey: refKey(repo, name, known.seq) }]),
      { action: 'create', collection: REF_COLLECTION, rkey: refKey(repo, name, seq), value: move },
    ])
    this.#seqs.set(`${repo} ${name}`, { seq, target })
    return target
  }

  async deleteRef(repo: string, name: string): Promise<void> {
    const { seq } = this.#seqs.get(`${repo} ${name}`)!
    await this.write([
      { action: 'delete', collection: REF_COLLECTION, rkey: refKey(repo, name, seq) },
      {
        action: 'create',
        collection: REF_COLLECTION,
        rkey: refKey(repo, name, seq + 1),
        value: encodeRefRecord({ name, target: null, seq: seq + 1 }),
      },
    ])
    this.#seqs.set(`${repo} ${name}`, { seq: seq + 1, target: null })
  }
}

function repoValue(name: string, more: { description?: string; topics?: string[] }): Record<string, unknown> {
  return encodeRepoRecord({
    name,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt: new Date().toISOString(),
    ...more,
  })
}

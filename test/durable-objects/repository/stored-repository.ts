import { createHash } from 'node:crypto'
import { PACK_COLLECTION, REF_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { encodePackRecord } from '../../../atproto/records/pack-record.ts'
import { packKey, refKey } from '../../../atproto/records/record-keys.ts'
import { encodeRefRecord } from '../../../atproto/records/ref-record.ts'
import { encodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import { tidFromTime } from '../../../atproto/records/tid.ts'
import type { RepositoryAddress } from '../../../durable-objects/repository/answers.ts'
import { MemoryPds } from '../../atproto/memory-pds.ts'
import { DID, PDS, RECORD } from '../../storage/mirror/in-mirror.ts'

const CREATED = '2026-11-30T12:00:00Z'
/** Microseconds: so far apart are the packs' keys, an hour, that clocks make no difference. */
const APART = 3600 * 1_000_000
const FIRST = 1_760_000_000 * 1_000_000
let repositories = 0

/** A repository in an account in memory, its records written as a writer would. */
export class StoredRepositoryRecords {
  readonly pds = new MemoryPds()
  readonly rkey = tidFromTime(FIRST, repositories++)

  get address(): RepositoryAddress {
    return { did: DID, rkey: this.rkey, pds: PDS }
  }

  create(): this {
    this.pds.put(REPO_COLLECTION, this.rkey, encodeRepoRecord(RECORD))
    return this
  }

  /** The id of the pack that is the `n`th in time. */
  id(n: number): string {
    return tidFromTime(FIRST + n * APART, 0)
  }

  inlinePack(n: number, bytes: Uint8Array, replaces: readonly number[] = []): void {
    this.#pack(n, { bytes, size: bytes.length }, replaces)
  }

  /** The pack in blobs. @param sizes what the record says of them */
  blobPack(
    n: number,
    blobs: readonly Uint8Array[],
    replaces: readonly number[] = [],
    sizes: readonly number[] = blobs.map(({ length }) => length),
  ): void {
    const parts = blobs.map((bytes, i) => {
      const cid = cidOf(bytes)
      this.pds.blobs.set(cid, bytes)
      return {
        $type: 'blob' as const,
        ref: { $link: cid },
        mimeType: 'application/octet-stream',
        size: sizes[i]!,
      }
    })
    this.#pack(n, { parts, size: sizes.reduce((sum, size) => sum + size, 0) }, replaces)
  }

  removePack(n: number): void {
    this.pds.delete(PACK_COLLECTION, packKey(this.rkey, this.id(n)))
  }

  ref(name: string, target: string | null, seq: number, pack: number | null = null): void {
    if (seq > 1) this.pds.delete(REF_COLLECTION, refKey(this.rkey, name, seq - 1))
    const record = { name, target, seq, ...(pack === null ? {} : { pack: packKey(this.rkey, this.id(pack)) }) }
    this.pds.put(REF_COLLECTION, refKey(this.rkey, name, seq), encodeRefRecord(record))
  }

  #pack(
    n: number,
    content: Pick<Parameters<typeof encodePackRecord>[0], 'bytes' | 'parts' | 'size'>,
    replaces: readonly number[],
  ): void {
    const blobs = content.parts?.map(({ ref }) => this.pds.blobs.get(ref.$link)!)
    const [first] = blobs ?? [content.bytes!]
    const record = {
      ...content,
      objects: declaredObjects(first!),
      checksum: '1'.repeat(40),
      thin: false,
      ...(replaces.length === 0 ? {} : { replaces: replaces.map((other) => packKey(this.rkey, this.id(other))) }),
      createdAt: CREATED,
    }
    this.pds.put(PACK_COLLECTION, packKey(this.rkey, this.id(n)), encodePackRecord(record))
  }
}

/** As the header says, if it is one. */
function declaredObjects(pack: Uint8Array): number {
  const bytes = Buffer.from(pack.buffer, pack.byteOffset, pack.length)
  return bytes.length > 12 && bytes.toString('latin1', 0, 8) === 'PACK\0\0\0\x02' ? bytes.readUInt32BE(8) : 1
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** The id of a blob: CIDv1, raw, SHA-256. */
function cidOf(bytes: Uint8Array): string {
  const binary = Uint8Array.from([1, 0x55, 0x12, 0x20, ...createHash('sha256').update(bytes).digest()])
  const bits = Array.from(binary, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g)!.map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)])
  return `b${digits.join('')}`
}

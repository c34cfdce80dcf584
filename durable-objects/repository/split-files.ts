import type { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { ByteRange } from '../../git/bytes/range.ts'
import type { LinkFiles } from '../../git/graph/link-files.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { CutParts } from '../../git/pack/cut-parts.ts'
import type { SplitPart } from '../../storage/mirror/pack-splits.ts'
import { linksPrefix, packKeys, partBasesKey, partOffsetsKey } from '../../storage/packs/pack-keys.ts'
import { R2Range } from '../../storage/packs/r2-range.ts'
import type { RepositoryAddress } from './answers.ts'

/** The parts that a pack was cut into so far. What is read of them is entered in the account. */
export function openParts(
  bucket: R2Bucket,
  { did, rkey }: RepositoryAddress,
  parts: readonly SplitPart[],
  known: ObjectSource | null,
  memory: MemoryAccount,
): CutParts {
  const open = (key: string, size: number) => memory.enter(new R2Range(bucket, key, size))
  const opened = parts.map(({ id, size, objects, indexBytes, bases }) => {
    const keys = packKeys(did, rkey, id)
    return {
      entries: objects,
      data: open(keys.pack, size),
      index: open(keys.index, indexBytes),
      offsets: open(partOffsetsKey(did, rkey, id), 8 * objects),
      bases: open(partBasesKey(did, rkey, id), 4 * bases),
    }
  })
  return new CutParts(opened, known)
}

/** What linking finds, in R2 beside the parts until all is found. */
export class R2LinkFiles implements LinkFiles {
  readonly #bucket: R2Bucket
  readonly #address: RepositoryAddress
  readonly #prefix: string
  readonly #parts: readonly SplitPart[]
  readonly #memory: MemoryAccount

  constructor(
    bucket: R2Bucket,
    address: RepositoryAddress,
    stem: string,
    parts: readonly SplitPart[],
    memory: MemoryAccount,
  ) {
    this.#bucket = bucket
    this.#address = address
    this.#prefix = linksPrefix(address.did, address.rkey, stem)
    this.#parts = parts
    this.#memory = memory
  }

  open(name: string, size: number): ByteRange {
    return this.#memory.enter(new R2Range(this.#bucket, this.#prefix + name, size))
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(this.#prefix + name, bytes)
  }

  async writeGraph(part: number, file: Uint8Array): Promise<void> {
    const { did, rkey } = this.#address
    await this.#bucket.put(packKeys(did, rkey, this.#parts[part]!.id).graph, file)
  }
}

/** Deletes what linking has kept. */
export async function deleteLinks(bucket: R2Bucket, { did, rkey }: RepositoryAddress, stem: string): Promise<void> {
  const prefix = linksPrefix(did, rkey, stem)
  for (;;) {
    const { objects } = await bucket.list({ prefix })
    if (objects.length === 0) return
    await bucket.delete(objects.map(({ key }) => key))
  }
}

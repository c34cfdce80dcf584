import type { Landing } from '../../atproto/account/landing.ts'
import { packKey } from '../../atproto/records/record-keys.ts'
import type { PackRecord } from '../../atproto/records/record-types.ts'
import { type IngestedPack, ingestPack } from '../../git/graph/ingest-pack.ts'
import { PackGraph } from '../../git/graph/pack-graph.ts'
import type { KnownPack, PackHandle } from '../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import type { ManifestPack } from '../../storage/manifest.ts'
import { keepFiles } from '../../storage/packs/open-packs.ts'
import { packKeys } from '../../storage/packs/pack-keys.ts'
import { PackIntake, type PackIntakeOptions } from './pack-intake.ts'
import { counter, type Tell } from './tell.ts'

export interface TakePackOptions extends Omit<PackIntakeOptions, 'key'> {
  readonly did: string
  readonly rkey: string
  /** The new pack's id, a TID. */
  readonly id: string
  /** The repository's packs. */
  readonly known: readonly PackHandle[]
  /** The objects of these packs. Default: they are read from the packs. */
  readonly objects?: ObjectSource
  readonly tell: Tell
  /** Objects that the repository may have with it. Default: any number. */
  readonly mostObjects?: number
}

/**
 * Takes in a pushed pack: checked, indexed, and its bytes on their way to R2 and the account.
 *
 * @throws {@link PackError} in words for the pusher; nothing is left in R2 then
 */
export async function takePack(chunks: AsyncIterable<Uint8Array>, options: TakePackOptions): Promise<TakenPack> {
  const { did, rkey, id, known, tell, memory } = options
  const intake = new PackIntake({ ...options, key: packKeys(did, rkey, id).pack })
  const resolving = counter('Resolving deltas', tell)
  try {
    const ingested = await ingestPack({
      chunks: intake.take(chunks),
      reopen: () => intake.complete(),
      known:
        known.length === 0
          ? null
          : {
              objects: options.objects ?? memory.enter(new PackedObjects(known)),
              graph: RepositoryGraph.of(known),
            },
      strict: true,
      memory,
      onProgress: (phase, done, total) => {
        if (phase === 'resolving' && total > 0) resolving(done, total)
      },
    })
    checkObjects(options, ingested.objects)
    return new TakenPack(options, intake, ingested)
  } catch (error) {
    await intake.abort(error)
    throw error
  }
}

function checkObjects({ known, mostObjects = Number.POSITIVE_INFINITY }: TakePackOptions, added: number): void {
  const objects = known.reduce((sum, { index }) => sum + index.entries, added)
  if (objects <= mostObjects) return
  throw new PackError(`the repository would have ${objects} objects; ${mostObjects} at most can be served from here`)
}

/** A pack that has been taken in and that no row and no record names yet. */
export class TakenPack {
  readonly id: string
  readonly ingested: IngestedPack
  readonly #options: TakePackOptions
  readonly #intake: PackIntake
  readonly #files: KnownPack

  constructor(options: TakePackOptions, intake: PackIntake, ingested: IngestedPack) {
    this.id = options.id
    this.ingested = ingested
    this.#options = options
    this.#intake = intake
    this.#files = { index: new PackIndex(ingested.index), graph: new PackGraph(ingested.graph) }
  }

  /** Its index and its graph. */
  get files(): KnownPack {
    return this.#files
  }

  /** The repository's graph with this pack in it. */
  graph(): RepositoryGraph {
    return RepositoryGraph.of([...this.#options.known, this.#files])
  }

  /** What a landing says of the pack, once all its bytes are in the account. */
  async toLand(): Promise<NonNullable<Landing['pack']>> {
    return { rkey: packKey(this.#options.rkey, this.id), record: await this.#record() }
  }

  /** Puts the files that readers need beside the pack, which is on its way already. */
  async putFiles(): Promise<void> {
    const { bucket } = this.#options
    const { index, graph } = this.#keys
    await Promise.all([
      this.#intake.inBucket(),
      bucket.put(index, this.ingested.index),
      bucket.put(graph, this.ingested.graph),
    ])
    keepFiles(this.#keys, this.#files.index, this.#files.graph)
  }

  manifestPack(): ManifestPack {
    return { id: this.id, size: this.ingested.size, objects: this.ingested.objects }
  }

  /** Leaves nothing in R2. */
  async discard(): Promise<void> {
    const { pack, index, graph } = this.#keys
    // What is on its way would come after its deletion.
    await this.#intake.inBucket().catch(() => undefined)
    await this.#options.bucket.delete([pack, index, graph])
  }

  async #record(): Promise<PackRecord> {
    const { size, objects, checksum, thin } = this.ingested
    return { ...(await this.#intake.stored()), size, objects, checksum, thin, createdAt: new Date().toISOString() }
  }

  get #keys() {
    const { did, rkey, id } = this.#options
    return packKeys(did, rkey, id)
  }
}

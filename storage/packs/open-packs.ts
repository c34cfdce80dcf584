import { PackGraph } from '../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import type { ManifestPack } from '../manifest.ts'
import { FileCache } from './file-cache.ts'
import { type PackKeys, packKeys } from './pack-keys.ts'
import type { PackReader } from './pack-reader.ts'
import { ObjectGoneError, R2Range } from './r2-range.ts'

/** A pack of the mirror, opened: its index is at hand, its graph is read on first use. */
export interface OpenPack {
  readonly id: string
  readonly index: PackIndex
  readonly data: R2Range
  graph(): Promise<PackGraph>
}

const indexes = new FileCache((bytes) => new PackIndex(bytes))
const graphs = new FileCache((bytes) => new PackGraph(bytes))

/** Keeps the files of a pack that was just written: who made them reads the pack next. */
export function keepFiles(keys: PackKeys, index: PackIndex, graph: PackGraph): void {
  indexes.put(keys.index, index)
  graphs.put(keys.graph, graph)
}

/**
 * Opens the packs of a manifest, in its order.
 *
 * @param onGone hears of a file that turns out not to be there, now or in later reads
 * @throws {@link ObjectGoneError} if the manifest is too old, or R2 has lost a file.
 */
export function openPacks(
  bucket: PackReader,
  did: string,
  rkey: string,
  packs: readonly ManifestPack[],
  onGone: () => void = () => undefined,
): Promise<OpenPack[]> {
  const telling = async <T>(file: Promise<T>): Promise<T> => {
    try {
      return await file
    } catch (error) {
      if (error instanceof ObjectGoneError) onGone()
      throw error
    }
  }
  return Promise.all(
    packs.map(async ({ id, size }) => {
      const keys = packKeys(did, rkey, id)
      return {
        id,
        index: await telling(indexes.get(bucket, keys.index)),
        data: new R2Range(bucket, keys.pack, size, onGone),
        graph: () => telling(graphs.get(bucket, keys.graph)),
      }
    }),
  )
}

/** The same packs with their graphs read. */
export function withGraphs(packs: readonly OpenPack[]): Promise<PackHandle[]> {
  return Promise.all(packs.map(async ({ index, data, graph }) => ({ index, data, graph: await graph() })))
}

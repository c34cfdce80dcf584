import { REQUEST_MEMORY } from '../../git/bytes/memory-account.ts'
import { MERGE_BYTES_PER_OBJECT } from '../../git/graph/merge-packs.ts'

/** A pack as far as merging is concerned. */
export interface MergeablePack {
  readonly objects: number
  /** In bytes. */
  readonly size: number
  /** It was found that it cannot be merged. */
  readonly isSettled: boolean
}

export interface MergeLimits {
  /** Objects of the packs together: tables of them are held in memory. */
  readonly objects: number
  /** Bytes of a merged pack: it is copied in one alarm, in reads and parts that count as requests. */
  readonly bytes: number
}

/** What a merge holds beside its tables of objects: external bases, and what is not worth counting. Bytes. */
const MARGIN = 8 * 1024 * 1024

export const MERGE_LIMITS: MergeLimits = {
  objects: Math.floor((REQUEST_MEMORY - MARGIN) / MERGE_BYTES_PER_OBJECT),
  bytes: 2 * 1024 ** 3,
}

/** Each pack is to be at least so many times as large, in objects, as the next newer one. */
const FACTOR = 2

/**
 * Which packs to make one of, so that each is at least twice as large as the next: the newest ones, as few as will do.
 * Their count stays logarithmic, and an object is copied a logarithmic number of times. The same progression as that of
 * `git repack --geometric=2`, except that packs keep their order of age here: deltas stand on older packs.
 *
 * Packs that would exceed a limit together stay apart.
 *
 * @param packs oldest first
 * @returns those to merge, oldest first; none, or at least two
 */
export function packsToMerge<T extends MergeablePack>(packs: readonly T[], limits: MergeLimits = MERGE_LIMITS): T[] {
  let first = packs.length
  let objects = 0
  let size = 0
  for (let at = packs.length - 1; at >= 0; at--) {
    const pack = packs[at]!
    objects += pack.objects
    size += pack.size
    if (pack.isSettled || objects > limits.objects || size > limits.bytes) break
    if (at === packs.length - 1 || pack.objects < FACTOR * (objects - pack.objects)) first = at
    else break
  }
  return packs.length - first < 2 ? [] : packs.slice(first)
}

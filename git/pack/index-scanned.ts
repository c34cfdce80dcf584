import { HeldArrays, type MemoryAccount } from '../bytes/memory-account.ts'
import type { EntryIds } from './entry-ids.ts'
import { indexingBytes, writePackIndex } from './pack-index.ts'
import type { ResolvedPack } from './resolve-deltas.ts'
import type { ScannedEntries } from './scan-pack.ts'

/** The index file of entries that have been scanned and resolved. */
export function indexScanned(
  { offsets }: ScannedEntries,
  { types, sizes, bases, external }: ResolvedPack,
  ids: EntryIds,
  packSize: number,
  memory: MemoryAccount,
): Uint8Array {
  const held = memory.enter(new HeldArrays(types, sizes, bases, external))
  memory.check(indexingBytes({ types, external }))
  const oids = ids.table.view()
  const index = writePackIndex({ types, sizes, bases, external, offsets, packSize, oids, numbers: ids.numbers })
  memory.leave(held)
  return index
}

import { parsePackKey } from '../../atproto/records/record-keys.ts'
import type { PackRecord } from '../../atproto/records/record-types.ts'
import type { PackSource, PackState } from '../../storage/mirror/mirror-rows.ts'

/** The id of a pack, by a key that has been checked. */
export function packId(key: string): string {
  return parsePackKey(key)!.tid
}

/**
 * Where its bytes are, by its record. A pack can only replace what was there before it: else two could take each other away, again and again.
 */
export function packSource(id: string, { parts, replaces }: PackRecord): PackSource {
  return {
    blobs: parts?.map((part) => ({ cid: part.ref.$link, size: part.size })) ?? null,
    replaces: (replaces ?? []).flatMap((key) => parsePackKey(key)?.tid ?? []).filter((other) => other < id),
  }
}

/** Whether the bytes of a pack are of use that the account has. @param state as the mirror has it; null: it has not heard of it */
export function isNeeded(state: PackState | null): boolean {
  return state === null || state === 'wanted' || state === 'gone'
}

import { parsePackKey } from '../../../atproto/records/record-keys.ts'
import { tidTime } from '../../../atproto/records/tid.ts'

/**
 * When refs were moved, by what their record says: the time of the landing, or else of the newest pack that it needs.
 *
 * @param packs record keys
 * @returns milliseconds since 1970, null where the record says nothing
 */
export function moveTime(landing: string | undefined, packs: readonly (string | undefined)[]): number | null {
  if (landing !== undefined) return Math.floor(tidTime(landing) / 1000)
  const newest = packs
    .flatMap((pack) => (pack === undefined ? [] : (parsePackKey(pack)?.tid ?? [])))
    .sort()
    .at(-1)
  return newest === undefined ? null : Math.floor(tidTime(newest) / 1000)
}

import type { ListedRecord } from '../../atproto/account/list-account.ts'
import { CondensedValue, type DecodedRecord } from './condensed-value.ts'
import { PLUGINS } from './plugins/plugins.ts'
import { decode } from './read-events.ts'

/** An object, its lists, the headers of its texts, and its key in the answer that it came in. Bytes. */
const RECORD_OVERHEAD = 400

/**
 * What is held of a record while its account is listed.
 *
 * @returns what goes in its value's place, and about how many bytes of memory it takes
 */
export function condense({ collection, rkey, value }: ListedRecord): { value: CondensedValue; bytes: number } {
  const plugin = PLUGINS.get(collection)
  const decoded = plugin === undefined ? NOTHING : decode(plugin, { rkey, value, isParked: false })
  const texts = [rkey, decoded.fault, ...(decoded.values ?? [])]
  const length = texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
  return { value: new CondensedValue(decoded), bytes: RECORD_OVERHEAD + length }
}

const NOTHING: DecodedRecord = { values: null, fault: null }

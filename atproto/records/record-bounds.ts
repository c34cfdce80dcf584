/** A record may be nested so deep: whoever reads it later may do so by recursion. */
export const MAX_RECORD_DEPTH = 64
/**
 * Values that a record may hold, those in it counted: an empty list is a byte of CBOR, and sixty times as much in memory.
 * `dev.skein.refs`, whose lexicon allows most, may have 5,000 entries of five fields, which is 55,000 in CBOR, keys included.
 */
export const MAX_RECORD_VALUES = 60_000

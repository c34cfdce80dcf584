import type { Bitmap } from '../bytes/bitmap.ts'
import type { PackIndex } from './pack-index.ts'
import type { Span } from './read-ahead.ts'

/**
 * Entries that are closer together than this are read in one go, with what lies between them: in the time that one more
 * request takes, R2 sends as much.
 */
const SMALLEST_GAP = 512 * 1024
/** Reads of one pack in one fetch, about: a Worker's requests are counted, and each takes its round trip. */
const SPANS_LIMIT = 256

/** The parts of a pack to read for some of its entries: few, with gaps only where much can be left out. */
export function entrySpans(index: PackIndex, ordinals: Bitmap): Span[] {
  for (let gap = SMALLEST_GAP; ; gap *= 2) {
    const spans = spansWithGap(index, ordinals, gap)
    if (spans.length <= SPANS_LIMIT) return spans
  }
}

function spansWithGap(index: PackIndex, ordinals: Bitmap, gap: number): Span[] {
  const spans: Span[] = []
  let start = 0
  let end = 0
  for (let ordinal = ordinals.next(0); ordinal >= 0; ordinal = ordinals.next(ordinal + 1)) {
    const offset = index.offset(ordinal)
    if (end === 0) start = offset
    else if (offset - end >= gap) {
      spans.push({ start, end })
      start = offset
    }
    end = index.offset(ordinal + 1)
  }
  if (end > 0) spans.push({ start, end })
  return spans
}

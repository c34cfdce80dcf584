import { isEverything, isNothing, nameRanges } from '../../git/refs/ref-selection.ts'
import { withDefaultBranch } from '../../storage/manifest.ts'
import type { MirrorHead } from '../../storage/mirror/mirror-rows.ts'
import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import type { Room } from '../size-caps.ts'
import type { ManifestAnswer, ManifestNews, ManifestRequest } from './answers.ts'

/** So few refs are sent whoever asks for what: then the reader has them. */
const FEW_REFS = 100
/** Each range of names costs a look-up; with more of them all refs cost no more. */
const RANGES_LIMIT = 1_000

type Asked = Pick<ManifestRequest, 'known' | 'selection'>

/** What a reader is told of a mirror as it is now. @param room what may be added to it; null: there is no cap */
export function answerManifest(store: MirrorStore, asked: Asked, room: Room | null): ManifestAnswer {
  const head = store.head()
  if (head === null) return { state: 'gone' }
  const wantedBytes = store.isComplete() ? null : store.packs('wanted').reduce((sum, { size }) => sum + size, 0)
  return { state: 'found', wantedBytes, room, news: newsFor(store, head, asked) }
}

/**
 * What a reader lacks. Who has all refs is told what has changed, others get those that they ask for; all only where
 * that is not many more.
 */
function newsFor(store: MirrorStore, head: MirrorHead, { known, selection }: Asked): ManifestNews {
  const { shown } = store
  if (known?.version === head.version && (known.hasRefs || isNothing(selection))) return { kind: 'unchanged' }
  const base = store.manifestBase(head)
  const changes = known?.hasRefs ? shown.changedSince(known.version) : null
  if (changes !== null) return { kind: 'changed', base, changes }
  const ranges = nameRanges(withDefaultBranch(selection, head.record.defaultBranch))
  const isMost =
    isEverything(selection) ||
    ranges.length > RANGES_LIMIT ||
    !shown.outnumber(FEW_REFS + 2 * shown.countWithin(ranges))
  return isMost ? { kind: 'all', base, refs: shown.all() } : { kind: 'selected', base, refs: shown.within(ranges) }
}

import type { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import type { ManifestAnswer } from './answers.ts'

/** What a reader is told of a mirror as it is now. @param knownVersion of the manifest that the reader has, or null */
export function answerManifest(store: MirrorStore, knownVersion: number | null): ManifestAnswer {
  const head = store.head()
  if (head === null) return { state: 'gone' }
  const isComplete = store.isComplete()
  if (isComplete && head.version === knownVersion) return { state: 'unchanged' }
  const manifest = store.manifest(head)
  if (isComplete) return { state: 'ready', manifest }
  const wantedBytes = store.packs('wanted').reduce((sum, { size }) => sum + size, 0)
  return { state: 'ingesting', manifest, wantedBytes }
}

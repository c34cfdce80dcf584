import { isOid } from '../../git/bytes/oid.ts'
import { splitPath } from '../../git/object/path.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { findRefByShortName } from '../../storage/revision.ts'
import { utf8Text } from '../http/percent.ts'

/** A revision and a path in it, as a URL has them one after the other. */
export interface RevisionAndPath {
  readonly revision: string
  readonly path: readonly Uint8Array[]
}

/** Longer ref names than this are not looked for, in UTF-16 units. */
const MAX_REF_NAME = 1024

/**
 * Tells the revision from the path in `<revision>/<path>`. Ref names hold slashes too, so the longest ref that the
 * text starts with is meant; where none is, the first segment is an id or HEAD. A full id is always taken for one,
 * so that what it leads to never changes.
 *
 * @returns null if there is no first segment or it is no UTF-8.
 */
export function splitRevisionAndPath(manifest: Manifest, decoded: Uint8Array): RevisionAndPath | null {
  const names = splitPath(decoded)
  const first = names[0] === undefined ? null : utf8Text(names[0])
  if (first === null) return null
  let best: RevisionAndPath = { revision: first, path: names.slice(1) }
  if (isOid(first.toLowerCase())) return best
  let revision = first
  for (let taken = 2; taken <= names.length; taken++) {
    const segment = utf8Text(names[taken - 1]!)
    if (segment === null) break
    revision = `${revision}/${segment}`
    if (revision.length > MAX_REF_NAME) break
    if (findRefByShortName(manifest, revision) !== null) best = { revision, path: names.slice(taken) }
  }
  return best
}

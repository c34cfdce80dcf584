import { isDirectory, isGitlink, isSymlink } from '../../../git/object/file-mode.ts'
import { joinPath } from '../../../git/object/path.ts'
import { decodeText } from '../../../git/object/text.ts'
import type { TreeEntry } from '../../../git/object/tree.ts'
import type { RepositoryObjects } from '../../../storage/repository-view.ts'
import { readBlobText } from '../../files/blob-text.ts'
import { findReadme, type ProseKind } from '../render/readme.ts'

/** What a directory says of itself. */
export interface Readme {
  readonly name: string
  /** From the root. */
  readonly path: Uint8Array
  readonly text: string
  readonly kind: ProseKind
}

/** Larger ones are files to be opened, in bytes. */
const MAX_README = 256 * 1024

/** @param entries of the directory */
export async function readReadme(
  objects: RepositoryObjects,
  entries: readonly TreeEntry[],
  directory: Uint8Array,
): Promise<Readme | null> {
  const isFile = ({ mode }: TreeEntry) => !isDirectory(mode) && !isGitlink(mode) && !isSymlink(mode)
  const files = new Map(entries.filter(isFile).map((entry) => [decodeText(entry.name), entry]))
  const found = findReadme(files.keys())
  if (found === null) return null
  const { name, oid } = files.get(found.name)!
  const content = await readBlobText(objects, oid, MAX_README)
  if (content.kind !== 'text') return null
  return { ...found, path: joinPath(directory, name), text: decodeText(content.bytes) }
}

import type { Oid } from '../../git/bytes/oid.ts'
import { checkTree } from '../../git/object/check-tree.ts'
import { canonicalMode, DIRECTORY_MODE, isDirectory, isGitlink, isSymlink } from '../../git/object/file-mode.ts'
import { MalformedObjectError } from '../../git/object/malformed-object-error.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { BLOB, TREE } from '../../git/object/object-type.ts'
import { joinPath, splitPath } from '../../git/object/path.ts'
import { decodeText } from '../../git/object/text.ts'
import { type WalkedEntry, walkTree } from '../../git/walk/walk-tree.ts'
import type { RepositoryObjects } from '../../storage/repository-view.ts'
import { mapAhead } from './map-ahead.ts'

/** Content of a known size that is read when its turn comes. */
export interface StreamedContent {
  /** In bytes. */
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

/** What the whole archive says of itself. */
export interface ArchiveOptions {
  readonly commit: Oid
  /** Committer time in seconds since 1970, at least 0: the time of all entries. */
  readonly time: number
}

/** A file, link or directory of an archive. */
export interface ArchiveEntry {
  /** Path in the archive; of a directory with a slash at its end. */
  readonly name: Uint8Array
  readonly mode: number
  /** Null for a directory; small content is read ahead, large content is streamed in its turn. */
  readonly content: Uint8Array | StreamedContent | null
}

/** Content up to this size is read ahead of its turn, in bytes: with the width below, 1 MiB is held at most. */
const READ_AHEAD_SIZE = 128 * 1024
/** Files that are opened at once. A Worker has six connections. */
const READ_AHEAD_WIDTH = 8

/** A tree has more entries than are packed. What has been sent by then is cut off, so that no one takes it for whole. */
export class ArchiveTooLargeError extends Error {
  override name = 'ArchiveTooLargeError'
}

const NOTHING = new Uint8Array(0)

/**
 * More entries than this are not packed: a small repository can name the same trees over and over and unfold without
 * end. The largest of real trees (Linux) has 100,000; a zip holds about 120 bytes an entry until its end.
 */
const MAX_ENTRIES = 250_000

/** What is in an archive of a tree: a directory named `prefix` and all below it, in tree order. */
export async function* archiveEntries(
  objects: RepositoryObjects,
  tree: Oid,
  prefix: string,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  const root = new TextEncoder().encode(prefix)
  yield { name: joinPath(root, NOTHING), mode: DIRECTORY_MODE, content: null }
  yield* mapAhead(atMost(walkTree(onlySound(objects), tree), MAX_ENTRIES), READ_AHEAD_WIDTH, (entry) =>
    openEntry(objects, entry, root),
  )
}

async function* atMost<T>(items: AsyncIterable<T>, limit: number): AsyncGenerator<T, void, undefined> {
  let count = 0
  for await (const item of items) {
    if (++count > limit) throw new ArchiveTooLargeError(`an archive holds at most ${limit} entries`)
    yield item
  }
}

async function openEntry(objects: RepositoryObjects, entry: WalkedEntry, root: Uint8Array): Promise<ArchiveEntry> {
  refuseUnsafeName(entry)
  const name = joinPath(root, entry.path)
  const mode = canonicalMode(entry.mode)
  // A submodule is an empty directory until it is checked out.
  if (isDirectory(mode) || isGitlink(mode))
    return { name: joinPath(name, NOTHING), mode: DIRECTORY_MODE, content: null }
  const stat = await objects.stat(entry.oid)
  if (stat === null) throw new MissingObjectError(entry.oid)
  if (isSymlink(mode) && stat.size > READ_AHEAD_SIZE) throw new MalformedObjectError(BLOB, 'no symlink is so long')
  if (stat.size > READ_AHEAD_SIZE) {
    const object = await objects.open(entry.oid)
    if (object === null) throw new MissingObjectError(entry.oid)
    return { name, mode, content: object }
  }
  const blob = await objects.read(entry.oid)
  if (blob === null) throw new MissingObjectError(entry.oid)
  return { name, mode, content: blob.bytes }
}

/**
 * Trees come from accounts too, past the checks of a push. Where one has a name twice, a symlink could be unpacked first
 * and the files of the directory through it; and slashes or dots in a name could lead out of the archive.
 */
function onlySound(objects: RepositoryObjects): ObjectSource {
  return {
    stat: (oid) => objects.stat(oid),
    async read(oid) {
      const object = await objects.read(oid)
      const reason = object?.type === TREE ? checkTree(object.bytes) : null
      if (reason !== null) throw new MalformedObjectError(TREE, reason)
      return object
    },
  }
}

/** On Windows a backslash leads on as a slash does. git takes such names, so only here they are refused. */
function refuseUnsafeName({ path }: WalkedEntry): void {
  const name = decodeText(splitPath(path).at(-1)!)
  if (name.split('\\').includes('..')) throw new MalformedObjectError(TREE, `it has an entry named ${name}`)
}

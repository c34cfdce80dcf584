import { Buffer } from 'node:buffer'
import type { Oid } from '../../git/bytes/oid.ts'
import { isDirectory, isGitlink, isSymlink } from '../../git/object/file-mode.ts'
import { compileGlob, maxStatesOf } from '../../git/object/glob.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { joinPath } from '../../git/object/path.ts'
import { decodeText } from '../../git/object/text.ts'
import { type WalkedEntry, walkTree } from '../../git/walk/walk-tree.ts'
import { readBlobText } from './blob-text.ts'
import { mapAhead } from './map-ahead.ts'

/** What is looked for: files whose path fits `name`, or lines with `text` in these. At least one is given. */
export interface FileSearch {
  /** A glob as in {@link compileGlob}, of the whole path, or where it has no slash of the file's name; without `*` and `?` a part of the path. */
  readonly name: string | null
  /** Taken as it stands: no expression, for one of a stranger's making could take forever. */
  readonly text: string | null
  readonly ignoreCase: boolean
}

/** What one call of a search may cost. */
export interface SearchLimits {
  /** Entries of trees that are looked at. */
  readonly entries: number
  /** Files that are read, and their bytes in all. */
  readonly files: number
  readonly bytes: number
  /** Comparisons of characters that a pattern of names may take: a stranger can make one, and paths, that take many. */
  readonly comparisons: number
  /** Larger files are not searched: few of them were written by hand. */
  readonly fileBytes: number
  /** Lines that are shown of one file. */
  readonly linesOfFile: number
}

export const SEARCH_LIMITS: SearchLimits = {
  entries: 50_000,
  files: 2_000,
  bytes: 32 * 1024 * 1024,
  comparisons: 25_000_000,
  fileBytes: 1024 * 1024,
  linesOfFile: 20,
}

export interface MatchedLine {
  /** From 1. */
  readonly number: number
  readonly text: string
}

export interface FileMatch {
  /** From the root of the repository. */
  readonly path: Uint8Array
  /** Empty where no text was looked for. */
  readonly lines: readonly MatchedLine[]
  /** How many lines have the text beside these. */
  readonly moreLines: number
}

export interface SearchPage {
  readonly matches: readonly FileMatch[]
  /** Files that were searched for the text, and those that were not because they are binary, or too large. */
  readonly searched: number
  readonly binary: number
  readonly tooLarge: number
  /** Where to go on, a path from the directory; null: all of it has been looked at. */
  readonly next: Uint8Array | null
}

/** Files that are read at once. A Worker has six connections. */
const WIDTH = 8
/** Characters of a line that are shown, around the place where the text is. */
const SHOWN = 240

/**
 * Looks for files, and for text in them, in tree order.
 *
 * @param directory the tree, and its path from the root of the repository
 * @param after where an earlier page ended: a path from the directory
 * @param limit matches after which the page ends: lines, or files where no text is looked for
 * @throws {@link NoSuchPathError} where `after` is not in the tree, {@link MissingObjectError},
 * {@link MalformedObjectError}, {@link TreeDepthError}
 */
export async function searchFiles(
  objects: ObjectSource,
  directory: { readonly tree: Oid; readonly path: Uint8Array },
  search: FileSearch,
  { after, limit, limits = SEARCH_LIMITS }: { after: Uint8Array | null; limit: number; limits?: SearchLimits },
): Promise<SearchPage> {
  const candidates = new Candidates(objects, directory, search, limits)
  const finder = search.text === null ? null : new LineFinder(search.text, search.ignoreCase, limits.linesOfFile)
  const matches: FileMatch[] = []
  const counts = { searched: 0, binary: 0, tooLarge: 0 }
  let found = 0
  const results = mapAhead(candidates.walk(after), WIDTH, async (entry) => ({
    entry,
    content: finder === null || isSymlink(entry.mode) ? null : await readBlobText(objects, entry.oid, limits.fileBytes),
  }))
  for await (const { entry, content } of results) {
    const path = joinPath(directory.path, entry.path)
    if (finder === null) {
      matches.push({ path, lines: [], moreLines: 0 })
      found++
    } else if (content !== null) {
      if (content.kind === 'text') counts.searched++
      else counts[content.kind === 'binary' ? 'binary' : 'tooLarge']++
      const { lines, moreLines } = finder.find(content.kind === 'text' ? content.bytes : NOTHING)
      if (lines.length > 0) matches.push({ path, lines, moreLines })
      found += lines.length
    }
    if (found >= limit) return { matches, ...counts, next: entry.path }
  }
  return { matches, ...counts, next: candidates.end }
}

const NOTHING = new Uint8Array(0)

/** The files that are to be looked into, as far as the limits go. */
class Candidates {
  /** Where the limits ended the walk; null: it went through. */
  end: Uint8Array | null = null
  readonly #objects: ObjectSource
  readonly #directory: { readonly tree: Oid; readonly path: Uint8Array }
  readonly #reads: boolean
  readonly #limits: SearchLimits
  readonly #fits: (path: string) => boolean
  readonly #comparisonsOfCharacter: number

  constructor(
    objects: ObjectSource,
    directory: { readonly tree: Oid; readonly path: Uint8Array },
    { name, text, ignoreCase }: FileSearch,
    limits: SearchLimits,
  ) {
    this.#objects = objects
    this.#directory = directory
    this.#reads = text !== null
    this.#limits = limits
    this.#fits = name === null ? () => true : namePredicate(name, ignoreCase)
    this.#comparisonsOfCharacter = name === null ? 0 : maxStatesOf(name)
  }

  async *walk(after: Uint8Array | null): AsyncGenerator<WalkedEntry, void, undefined> {
    const { tree, path: root } = this.#directory
    let { entries, files, bytes, comparisons } = this.#limits
    for await (const entry of walkTree(this.#objects, tree, { after })) {
      const { mode, oid, path } = entry
      comparisons -= (root.length + path.length) * this.#comparisonsOfCharacter
      if (!isDirectory(mode) && !isGitlink(mode) && this.#fits(decodeText(joinPath(root, path)))) {
        if (this.#reads) {
          files--
          bytes -= await this.#cost(oid)
        }
        yield entry
      }
      if (--entries <= 0 || files <= 0 || bytes <= 0 || comparisons <= 0) {
        this.end = path
        return
      }
    }
  }

  /** Bytes that are read of a file. */
  async #cost(oid: Oid): Promise<number> {
    const stat = await this.#objects.stat(oid)
    if (stat === null) throw new MissingObjectError(oid)
    return stat.size > this.#limits.fileBytes ? 0 : stat.size
  }
}

function namePredicate(name: string, ignoreCase: boolean): (path: string) => boolean {
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  const wanted = fold(name)
  if (!/[*?]/.test(name)) return (path) => fold(path).includes(wanted)
  const fits = compileGlob(wanted)
  if (name.includes('/')) return (path) => fits(fold(path))
  return (path) => fits(fold(path.slice(path.lastIndexOf('/') + 1)))
}

class LineFinder {
  readonly #text: string
  readonly #bytes: Buffer
  readonly #ignoreCase: boolean
  readonly #most: number

  constructor(text: string, ignoreCase: boolean, most: number) {
    this.#text = ignoreCase ? text.toLowerCase() : text
    this.#bytes = Buffer.from(text)
    this.#ignoreCase = ignoreCase
    this.#most = most
  }

  find(bytes: Uint8Array): { lines: MatchedLine[]; moreLines: number } {
    const lines: MatchedLine[] = []
    let moreLines = 0
    if (!this.#mayHave(bytes)) return { lines, moreLines }
    for (const [index, line] of decodeText(bytes).split('\n').entries()) {
      const at = (this.#ignoreCase ? line.toLowerCase() : line).indexOf(this.#text)
      if (at === -1) continue
      if (lines.length < this.#most) lines.push({ number: index + 1, text: cutAround(line, at) })
      else moreLines++
    }
    return { lines, moreLines }
  }

  /** Most files do not have the text, and this is seen without making lines of them. */
  #mayHave(bytes: Uint8Array): boolean {
    if (this.#ignoreCase) return bytes.length > 0
    const isAscii = this.#bytes.length === this.#text.length
    return !isAscii || Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(this.#bytes)
  }
}

function cutAround(line: string, at: number): string {
  const whole = line.replace(/\r$/, '')
  if (whole.length <= SHOWN) return whole
  const start = Math.max(0, Math.min(at - SHOWN / 4, whole.length - SHOWN))
  const end = start + SHOWN
  return `${start > 0 ? '…' : ''}${whole.slice(start, end).toWellFormed()}${end < whole.length ? '…' : ''}`
}

import type { Oid } from '../../git/bytes/oid.ts'
import type { DiffSide, TreeChange } from '../../git/diff/diff-trees.ts'
import { countLines } from '../../git/diff/text-lines.ts'
import { CONTEXT_LINES, unifiedHunks } from '../../git/diff/unified.ts'
import { formatMode, isGitlink, isSymlink } from '../../git/object/file-mode.ts'
import type { ObjectSource } from '../../git/object/object-source.ts'
import { decodeText } from '../../git/object/text.ts'
import { readBlobText } from './blob-text.ts'
import { cutText } from './cut-text.ts'
import { showPath } from './show-path.ts'

/** What one diff may cost. */
export interface DiffLimits {
  /** Characters of the text. */
  readonly textLength: number
  /** Changed files that are named beyond that, without their lines. */
  readonly named: number
  /** Bytes that are read in all. */
  readonly bytes: number
  /** Larger files, and those with more lines, are only named: comparing two takes time with their product at worst. */
  readonly fileBytes: number
  readonly fileLines: number
}

export const DIFF_LIMITS: DiffLimits = {
  textLength: 128 * 1024,
  named: 1_000,
  bytes: 16 * 1024 * 1024,
  fileBytes: 1024 * 1024,
  fileLines: 50_000,
}

/** What differs, as text. */
export interface FilesDiff {
  /** In the format of `git diff --full-index --no-renames`, without section headings. */
  readonly text: string
  /** Whether the last file of `text` is not there whole. */
  readonly isCut: boolean
  /** Further files that differ: `M path`. */
  readonly others: readonly string[]
  /** Whether there are more than that. */
  readonly hasMore: boolean
}

/** @throws {@link MissingObjectError}, {@link MalformedObjectError}, {@link TreeDepthError} */
export async function diffFiles(
  objects: ObjectSource,
  changes: AsyncIterable<TreeChange>,
  { context = CONTEXT_LINES, limits = DIFF_LIMITS }: { context?: number; limits?: DiffLimits } = {},
): Promise<FilesDiff> {
  const reader = new SideReader(objects, limits)
  const others: string[] = []
  let text = ''
  let isCut = false
  for await (const change of changes) {
    if (isCut || text.length >= limits.textLength || reader.isSpent) {
      if (others.length === limits.named) return { text, isCut, others, hasMore: true }
      others.push(`${statusOf(change)} ${showPath(decodeText(change.path))}`)
      continue
    }
    const patch = await writePatch(reader, change, context)
    const shown = cutText(patch, limits.textLength - text.length)
    isCut = shown.length < patch.length
    text += shown
  }
  return { text, isCut, others, hasMore: false }
}

function statusOf({ old, new: fresh }: TreeChange): string {
  return old === null ? 'A' : fresh === null ? 'D' : 'M'
}

async function writePatch(reader: SideReader, change: TreeChange, context: number): Promise<string> {
  const { path, old, new: fresh } = change
  if (old !== null && fresh !== null && kindOf(old) !== kindOf(fresh)) {
    const gone = await writePatch(reader, { path, old, new: null }, context)
    return gone + (await writePatch(reader, { path, old: null, new: fresh }, context))
  }
  const name = decodeText(path)
  const [a, b] = [showPath(`a/${name}`), showPath(`b/${name}`)]
  const heading = [`diff --git ${a} ${b}`, ...modeLines(change)].map((line) => `${line}\n`).join('')
  if (old?.oid === fresh?.oid) return heading
  const [before, after] = [await reader.read(old), await reader.read(fresh)]
  if (before === 'too-large' || after === 'too-large') return `${heading}Large files differ: read them with ranges\n`
  const from = old === null ? '/dev/null' : a
  const to = fresh === null ? '/dev/null' : b
  if (before === 'binary' || after === 'binary') return `${heading}Binary files ${from} and ${to} differ\n`
  const hunks = unifiedHunks(before, after, context)
  return hunks.length === 0 ? heading : `${heading}--- ${ended(from)}\n+++ ${ended(to)}\n${decodeText(hunks)}`
}

/** git puts a tab behind a name with a space in it, so that `patch` sees where it ends. */
function ended(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name
}

/** A file, a link or a submodule: one that becomes another goes, and the other comes. */
function kindOf({ mode }: DiffSide): string {
  return isGitlink(mode) ? 'submodule' : isSymlink(mode) ? 'link' : 'file'
}

const NO_OID: Oid = '0'.repeat(40)

function modeLines({ old, new: fresh }: TreeChange): string[] {
  const ids = `index ${old?.oid ?? NO_OID}..${fresh?.oid ?? NO_OID}`
  if (old === null) return [`new file mode ${formatMode(fresh!.mode)}`, ids]
  if (fresh === null) return [`deleted file mode ${formatMode(old.mode)}`, ids]
  if (old.mode === fresh.mode) return [`${ids} ${formatMode(old.mode)}`]
  const modes = [`old mode ${formatMode(old.mode)}`, `new mode ${formatMode(fresh.mode)}`]
  return old.oid === fresh.oid ? modes : [...modes, ids]
}

/** Reads sides of changes until it has read enough. */
export class SideReader {
  readonly #objects: ObjectSource
  readonly #limits: DiffLimits
  #left: number

  constructor(objects: ObjectSource, limits: DiffLimits) {
    this.#objects = objects
    this.#limits = limits
    this.#left = limits.bytes
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  async read(side: DiffSide | null): Promise<Uint8Array | 'binary' | 'too-large'> {
    if (side === null) return new Uint8Array(0)
    // As git shows a submodule.
    if (isGitlink(side.mode)) return new TextEncoder().encode(`Subproject commit ${side.oid}\n`)
    const content = await readBlobText(this.#objects, side.oid, this.#limits.fileBytes)
    if (content.kind === 'too-large') return 'too-large'
    this.#left -= content.bytes.length
    if (content.kind === 'binary') return 'binary'
    return countLines(content.bytes) > this.#limits.fileLines ? 'too-large' : content.bytes
  }
}

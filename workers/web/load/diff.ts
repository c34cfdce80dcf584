import type { Oid } from '../../../git/bytes/oid.ts'
import { type DiffSide, diffTrees, type TreeChange } from '../../../git/diff/diff-trees.ts'
import { CONTEXT_LINES, unifiedHunks } from '../../../git/diff/unified.ts'
import { formatMode, isGitlink, isSymlink } from '../../../git/object/file-mode.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { decodeText } from '../../../git/object/text.ts'
import { DIFF_LIMITS, SideReader } from '../../files/diff-files.ts'
import type { Form } from '../negotiate.ts'
import { type DiffSection, diffSections } from '../render/diff-html.ts'
import { languageOf } from '../render/highlight.ts'

export type ChangeStatus = 'added' | 'deleted' | 'modified' | 'renamed'

/** A file that differs. */
export interface ChangedFile {
  readonly status: ChangeStatus
  /** Where it is now, or where a deleted one was. */
  readonly path: Uint8Array
  /** Where a renamed one was. */
  readonly oldPath: Uint8Array | null
  readonly old: DiffSide | null
  readonly new: DiffSide | null
}

/** The same with what differs in it. */
export interface FileDiff extends ChangedFile {
  readonly body: DiffBody
  readonly added: number
  readonly deleted: number
  /** `100644 → 100755`; null where the mode stayed. */
  readonly modeChange: string | null
}

/**
 * The lines of sections are safe HTML already: words are marked in what is compared. For who wants no HTML there is a patch
 * instead, as `git diff` writes it.
 */
export type DiffBody =
  | { readonly kind: 'sections'; readonly sections: readonly DiffSection[] }
  | { readonly kind: 'patch'; readonly text: string }
  | { readonly kind: 'binary' | 'too-large' | 'same' }

/** A page of what differs between two trees. */
export interface DiffPage {
  /** All files that differ, at most {@link MAX_FILES}. */
  readonly total: number
  /** Whether there are more than that. */
  readonly hasMore: boolean
  readonly files: readonly FileDiff[]
  /** Place of the first of them among all, from 0. */
  readonly from: number
  /** Place of the first file of the next page; null: this is the last one. */
  readonly next: number | null
  /** Lines of the shown files. */
  readonly added: number
  readonly deleted: number
}

/** Files that are counted. */
export const MAX_FILES = 2_000
/** A page ends with the file by which it has so many lines, so that it stays one that a phone can hold. */
const LINES_PER_PAGE = 600
const FILES_PER_PAGE = 50
/** A file with more lines to show is named alone. */
const LINES_PER_FILE = 1_000

/**
 * @param from place of the first file, from 0
 * @param form that is asked for
 */
export async function loadDiff(
  objects: ObjectSource,
  oldTree: Oid | null,
  newTree: Oid,
  from: number,
  form: Form = 'html',
): Promise<DiffPage> {
  const { changes, hasMore } = await listChanges(objects, oldTree, newTree)
  const all = hasMore ? changes.map(asChanged) : joinRenames(changes)
  const files = await readDiffs(objects, all.slice(from, from + FILES_PER_PAGE), form)
  const end = from + files.length
  const sum = (side: 'added' | 'deleted') => files.reduce((total, file) => total + file[side], 0)
  return {
    total: all.length,
    hasMore,
    files,
    from,
    next: end < all.length ? end : null,
    added: sum('added'),
    deleted: sum('deleted'),
  }
}

async function listChanges(objects: ObjectSource, oldTree: Oid | null, newTree: Oid) {
  const changes: TreeChange[] = []
  for await (const change of diffTrees(objects, oldTree, newTree)) {
    if (changes.length === MAX_FILES) return { changes, hasMore: true }
    changes.push(change)
  }
  return { changes, hasMore: false }
}

function asChanged({ path, old, new: fresh }: TreeChange): ChangedFile {
  const status = old === null ? 'added' : fresh === null ? 'deleted' : 'modified'
  return { status, path, oldPath: null, old, new: fresh }
}

/** A file that went and one that came with the same content, and no other like them: it was renamed. */
function joinRenames(changes: readonly TreeChange[]): ChangedFile[] {
  const gone = byContent(changes.filter((change) => change.new === null))
  const come = byContent(changes.filter((change) => change.old === null))
  const isMoved = (oid: Oid) => gone.get(oid)?.length === 1 && come.get(oid)?.length === 1
  return changes.flatMap((change): ChangedFile[] => {
    if (change.new === null) return isMoved(change.old!.oid) ? [] : [asChanged(change)]
    if (change.old !== null || !isMoved(change.new.oid)) return [asChanged(change)]
    const [from] = gone.get(change.new.oid)!
    return [{ status: 'renamed', path: change.path, oldPath: from!.path, old: from!.old, new: change.new }]
  })
}

function byContent(changes: readonly TreeChange[]): Map<Oid, TreeChange[]> {
  return Map.groupBy(changes, (change) => (change.old ?? change.new)!.oid)
}

async function readDiffs(objects: ObjectSource, files: readonly ChangedFile[], form: Form): Promise<FileDiff[]> {
  const reader = new SideReader(objects, DIFF_LIMITS)
  const diffs: FileDiff[] = []
  let shown = 0
  for (const file of files) {
    const { body, lines, added, deleted } = await readBody(reader, file, form)
    diffs.push({ ...file, body, added, deleted, modeChange: modeChange(file) })
    shown += lines
    if (shown >= LINES_PER_PAGE || reader.isSpent) break
  }
  return diffs
}

interface CountedBody {
  readonly body: DiffBody
  /** That are shown. */
  readonly lines: number
  readonly added: number
  readonly deleted: number
}

async function readBody(reader: SideReader, { path, old, new: fresh }: ChangedFile, form: Form): Promise<CountedBody> {
  if (old?.oid === fresh?.oid) return uncounted('same')
  const [before, after] = [await reader.read(old), await reader.read(fresh)]
  if (before === 'too-large' || after === 'too-large') return uncounted('too-large')
  if (before === 'binary' || after === 'binary') return uncounted('binary')
  if (form !== 'html') return countPatch(decodeText(unifiedHunks(before, after, CONTEXT_LINES)))
  const sections = diffSections(before, after, languageOf(decodeText(path)))
  const rows = sections.flatMap((section) => section.rows)
  const changed = rows.filter(({ isChanged }) => isChanged)
  return fitting({
    body: { kind: 'sections', sections },
    lines: rows.length,
    added: changed.filter((row) => row.new !== null).length,
    deleted: changed.filter((row) => row.old !== null).length,
  })
}

function countPatch(text: string): CountedBody {
  const lines = text.split('\n')
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  return fitting({ body: { kind: 'patch', text }, lines: lines.length, added: count('+'), deleted: count('-') })
}

function fitting(counted: CountedBody): CountedBody {
  return counted.lines > LINES_PER_FILE ? { ...counted, body: { kind: 'too-large' }, lines: 0 } : counted
}

function uncounted(kind: 'binary' | 'too-large' | 'same'): CountedBody {
  return { body: { kind }, lines: 0, added: 0, deleted: 0 }
}

function modeChange({ old, new: fresh }: ChangedFile): string | null {
  if (old === null || fresh === null || old.mode === fresh.mode) return null
  return `${modeName(old.mode)} → ${modeName(fresh.mode)}`
}

function modeName(mode: number): string {
  return isGitlink(mode) ? 'submodule' : isSymlink(mode) ? 'symbolic link' : formatMode(mode)
}

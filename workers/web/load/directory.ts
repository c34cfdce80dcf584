import type { Oid } from '../../../git/bytes/oid.ts'
import { findLastCommits, type KnownLastCommits, nameKey } from '../../../git/diff/last-commits.ts'
import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { canonicalMode, EXECUTABLE_MODE, isDirectory, isGitlink, isSymlink } from '../../../git/object/file-mode.ts'
import { TREE } from '../../../git/object/object-type.ts'
import { joinPath } from '../../../git/object/path.ts'
import { readObject } from '../../../git/object/read-object.ts'
import { decodeText } from '../../../git/object/text.ts'
import { type TreeEntry, TreeReader } from '../../../git/object/tree.ts'
import type { OpenedRepository } from '../deps.ts'
import type { KeptLastCommits } from '../kept-last-commits.ts'
import { type CommitInfo, readCommitInfo } from './commit-info.ts'
import { type Readme, readReadme } from './readme.ts'

export type EntryKind = 'directory' | 'file' | 'executable' | 'link' | 'submodule'

/** A line of a file list. */
export interface DirectoryEntry {
  readonly name: string
  /** From the root. */
  readonly path: Uint8Array
  readonly kind: EntryKind
  readonly oid: Oid
  /** The commit that last changed it; null: it lies further back than was looked. */
  readonly commit: CommitInfo | null
}

export interface Directory {
  /** Directories first. */
  readonly entries: readonly DirectoryEntry[]
  /** How many more there are. */
  readonly left: number
  /** The newest change of what is here; null where it is not known. */
  readonly newest: CommitInfo | null
  /** Whether for each entry the commit was found that last changed it. */
  readonly isComplete: boolean
  readonly readme: Readme | null
}

/** Entries that one page lists. */
const LISTED = 1_000

/**
 * What lies in a directory, with the commit that last changed each entry.
 *
 * @param tree of the directory
 * @param commit that the walk starts at; null: there is none, and so no history
 */
export async function loadDirectory(
  opened: Pick<OpenedRepository, 'view' | 'lastCommits'>,
  tree: Oid,
  commit: Oid | null,
  path: Uint8Array,
): Promise<Directory> {
  const { view } = opened
  const all = readEntries(await readObject(view.objects, tree, TREE))
  const listed = all.slice(0, LISTED)
  const [found, readme] = await Promise.all([lastCommits(opened, commit, path), readReadme(view.objects, all, path)])
  const entries = listed.map(({ name, mode, oid }) => ({
    name: decodeText(name),
    path: joinPath(path, name),
    kind: kindOf(mode),
    oid,
    commit: found.commits.get(nameKey(name)) ?? null,
  }))
  return { entries, left: all.length - listed.length, newest: found.newest, isComplete: found.isComplete, readme }
}

function readEntries(bytes: Uint8Array): TreeEntry[] {
  const reader = new TreeReader(bytes)
  const entries: TreeEntry[] = []
  while (reader.next()) entries.push({ mode: reader.mode, name: reader.name, oid: reader.oid })
  return [...entries.filter(({ mode }) => isDirectory(mode)), ...entries.filter(({ mode }) => !isDirectory(mode))]
}

function kindOf(mode: number): EntryKind {
  if (isDirectory(mode)) return 'directory'
  if (isGitlink(mode)) return 'submodule'
  if (isSymlink(mode)) return 'link'
  return canonicalMode(mode) === EXECUTABLE_MODE ? 'executable' : 'file'
}

interface FoundCommits {
  readonly commits: ReadonlyMap<string, CommitInfo>
  readonly newest: CommitInfo | null
  readonly isComplete: boolean
}

async function lastCommits(
  { view, lastCommits: keeper }: Pick<OpenedRepository, 'view' | 'lastCommits'>,
  commit: Oid | null,
  path: Uint8Array,
): Promise<FoundCommits> {
  const name = nameKey(path)
  const [graph, kept] = await Promise.all([view.graph(), keeper.find(name)])
  const from = commit === null ? -1 : graph.find(commit)
  if (commit === null || from === -1) return { commits: new Map(), newest: null, isComplete: false }
  const known = kept && knownIn(graph, kept)
  const { commits, isComplete, examined } = await findLastCommits(graph, view.objects, from, path, { known })
  const numbers = [...new Set(commits.values())]
  const read = (oid: Oid) => kept?.infos.get(oid) ?? readCommitInfo(view.objects, oid)
  const infos = await Promise.all(numbers.map((number) => read(graph.oid(number))))
  if (kept?.commit !== commit) {
    const entries = new Map([...commits].map(([entry, number]) => [entry, graph.oid(number)]))
    keeper.keep(name, { commit, entries, infos: new Map(infos.map((info) => [info.oid, info])) }, examined)
  }
  const byNumber = new Map(numbers.map((number, i) => [number, infos[i]!]))
  const latest = numbers.reduce<number | null>(
    (last, number) => (last === null || graph.time(number) > graph.time(last) ? number : last),
    null,
  )
  return {
    commits: new Map([...commits].map(([name, number]) => [name, byNumber.get(number)!])),
    newest: latest === null ? null : byNumber.get(latest)!,
    isComplete,
  }
}

/** Null: the history was rewritten, and does not lead there any more. */
function knownIn(graph: CommitGraph, { commit, entries }: KeptLastCommits): KnownLastCommits | null {
  const at = graph.find(commit)
  const commits = new Map([...entries].map(([name, oid]) => [name, graph.find(oid)]))
  return at === -1 || [...commits.values()].includes(-1) ? null : { at, commits }
}

import type { Oid } from '../../../git/bytes/oid.ts'
import { parseCommit } from '../../../git/object/commit.ts'
import { isDirectory, isGitlink, isSymlink } from '../../../git/object/file-mode.ts'
import { COMMIT } from '../../../git/object/object-type.ts'
import { readObject } from '../../../git/object/read-object.ts'
import { decodeText } from '../../../git/object/text.ts'
import { CommitQueue } from '../../../git/walk/commit-queue.ts'
import { walkTree } from '../../../git/walk/walk-tree.ts'
import type { RepositoryView } from '../../../storage/repository-view.ts'
import { mapAhead } from '../../files/map-ahead.ts'
import { person } from '../load/commit-info.ts'
import { findLanguage } from '../render/find-language.ts'
import { type LanguageShare, languageShares, type SizedFile } from '../render/languages.ts'

/** What a repository's page says of the state that a commit names, and what takes longer than a reader waits. */
export interface Facts {
  readonly commit: Oid
  /** When it was found, in milliseconds since 1970. */
  readonly at: number
  readonly languages: readonly LanguageShare[]
  /** Who wrote most commits, the first one most. */
  readonly contributors: readonly Contributor[]
  /** How many wrote any, by their mail addresses. */
  readonly contributorsTotal: number
  /** Commits that were counted: the newest ones. */
  readonly commits: number
  /** Whether these are all. */
  readonly isWhole: boolean
}

export interface Contributor {
  /** As the newest commit has it. */
  readonly name: string
  readonly commits: number
}

/** What is looked at, at most. */
export interface FactLimits {
  readonly entries: number
  readonly files: number
  readonly commits: number
}

export const FACT_LIMITS: FactLimits = { entries: 20_000, files: 5_000, commits: 10_000 }

/** Contributors that are named. */
const NAMED = 10
/** Objects that are read at once. A Worker has six connections. */
const WIDTH = 6

/** @param tree of the commit. @param now milliseconds since 1970 */
export async function gatherFacts(
  view: RepositoryView,
  { commit, tree }: { readonly commit: Oid; readonly tree: Oid },
  now: number,
  limits: FactLimits = FACT_LIMITS,
): Promise<Facts> {
  const files: SizedFile[] = []
  for await (const file of mapAhead(sourceFiles(view, tree, limits), WIDTH, async ({ path, oid }) => {
    return { path, size: (await view.objects.stat(oid))?.size ?? 0 }
  })) {
    files.push(file)
  }
  return { commit, at: now, languages: languageShares(files), ...(await countAuthors(view, commit, limits.commits)) }
}

/** Those of which the size matters. */
async function* sourceFiles({ objects }: RepositoryView, tree: Oid, limits: FactLimits) {
  let entries = 0
  let files = 0
  for await (const { path, mode, oid } of walkTree(objects, tree)) {
    if (++entries > limits.entries || files === limits.files) return
    if (isDirectory(mode) || isGitlink(mode) || isSymlink(mode)) continue
    const name = decodeText(path)
    if (findLanguage(name)?.isCounted !== true) continue
    files++
    yield { path: name, oid }
  }
}

async function countAuthors(
  view: RepositoryView,
  commit: Oid,
  limit: number,
): Promise<Pick<Facts, 'contributors' | 'contributorsTotal' | 'commits' | 'isWhole'>> {
  const graph = await view.graph()
  const from = graph.find(commit)
  const counts = new Map<string, { name: string; commits: number }>()
  if (from === -1) return { contributors: [], contributorsTotal: 0, commits: 0, isWhole: false }
  const queue = new CommitQueue(graph, [from])
  let commits = 0
  function* newest(): Generator<Oid, void, undefined> {
    for (; queue.size > 0 && commits < limit; commits++) {
      const at = queue.pop()
      for (const parent of graph.parents(at)) queue.push(parent)
      yield graph.oid(at)
    }
  }
  const authors = mapAhead(newest(), WIDTH, async (oid) => {
    const { author, encoding } = parseCommit(await readObject(view.objects, oid, COMMIT))
    return person(author, encoding)
  })
  for await (const { name, email } of authors) {
    const key = email.toLowerCase() || name
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { name, commits: 1 })
    else known.commits++
  }
  const ranked = [...counts.values()].sort((a, b) => b.commits - a.commits || (a.name < b.name ? -1 : 1))
  return {
    contributors: ranked.slice(0, NAMED),
    contributorsTotal: ranked.length,
    commits,
    isWhole: queue.size === 0,
  }
}

import type { ScratchRepository } from '../git.ts'

export interface GitMerge {
  readonly tree: string
  /** Of what conflicts, each once, sorted. */
  readonly conflicted: readonly string[]
}

/** What git makes of a merge. (This version of git cannot be told to detect no renames.) */
export function gitMerge(repository: ScratchRepository, ours: string, theirs: string): GitMerge {
  const [tree, ...names] = mergeTree(repository, ['--allow-unrelated-histories', ours, theirs]).split('\0')
  const end = names.indexOf('')
  // Where a directory is in the way, or types differ, git gives the file a name with the branch's.
  const paths = names.slice(0, end === -1 ? undefined : end).map((name) => name.replace(/~c\d+(_\d+)?$/, ''))
  return { tree: tree!, conflicted: [...new Set(paths)].sort() }
}

/** Exits with 1 where there are conflicts. */
function mergeTree(repository: ScratchRepository, args: readonly string[]): string {
  try {
    return repository.text(['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ...args])
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && 'status' in error && error.status === 1)
      return String(error.stdout)
    throw error
  }
}

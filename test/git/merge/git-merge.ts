import type { ScratchRepository } from '../git.ts'

export interface GitMerge {
  readonly tree: string
  /** Of what conflicts, each once, sorted. */
  readonly conflicted: readonly string[]
}

/** What git makes of a merge. (This version of git cannot be told to detect no renames.) */
export function gitMerge(repository: ScratchRepository, ours: string, theirs: string): GitMerge {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories']
  const [tree, ...names] = outputOf(repository, [...args, ours, theirs]).split('\0')
  // Where a directory is in the way, or types differ, git gives the file a name with the branch's.
  const paths = names.filter((name) => name !== '').map((name) => name.replace(/~c\d+(_\d+)?$/, ''))
  return { tree: tree!, conflicted: [...new Set(paths)].sort() }
}

/** All best common ancestors, sorted. */
export function gitMergeBases(repository: ScratchRepository, ours: string, theirs: string): string[] {
  const output = outputOf(repository, ['merge-base', '--all', ours, theirs]).trimEnd()
  return output === '' ? [] : output.split('\n').sort()
}

/** Of a command that exits with 1 where there are conflicts, or nothing is found. */
function outputOf(repository: ScratchRepository, args: readonly string[]): string {
  try {
    return repository.text(args)
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && 'status' in error && error.status === 1)
      return String(error.stdout)
    throw error
  }
}

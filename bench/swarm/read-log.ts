import type { Git } from '../../dev/git.ts'

export interface LoggedCommit {
  readonly oid: string
  /** First line of the message. */
  readonly subject: string
}

/** Commits of a branch of a clone, the oldest first. */
export async function readLog(git: Git, directory: string, branch: string): Promise<LoggedCommit[]> {
  const { stdout } = await git.run(['log', '--reverse', '--first-parent', '--format=%H %s', branch], { cwd: directory })
  const lines = stdout.split('\n').filter(Boolean)
  return lines.map((line) => ({ oid: line.slice(0, 40), subject: line.slice(41) }))
}

/** Of subjects `<who> <n> commit <k>` in the order of a branch, those before which a later one of the same lies. */
export function findDisorder(log: readonly LoggedCommit[]): string[] {
  const latest = new Map<string, number>()
  return log.flatMap(({ subject }) => {
    const [, who = '', number] = /^(\w+ \d+) commit (\d+)$/.exec(subject) ?? []
    const isEarlier = Number(number) < (latest.get(who) ?? 0)
    if (number !== undefined) latest.set(who, Number(number))
    return isEarlier ? [subject] : []
  })
}

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Git, GitOptions, GitResult } from '../../dev/git.ts'

/** A directory in which git is run: a working copy or a bare repository. */
export class WorkingCopy {
  readonly #git: Git
  readonly directory: string
  #commits = 0

  constructor(git: Git, directory: string) {
    this.#git = git
    this.directory = directory
  }

  /** What the command prints, without the last newline. @throws GitError where it fails */
  async git(...args: string[]): Promise<string> {
    return (await this.#git.run(args, { cwd: this.directory })).stdout.trimEnd()
  }

  /** The same with what git prints on stderr (progress, reports, the server's words), and any exit status. */
  async try(...args: string[]): Promise<GitResult> {
    return this.tryWith({}, ...args)
  }

  async tryWith(options: Omit<GitOptions, 'cwd'>, ...args: string[]): Promise<GitResult> {
    return this.#git.try(args, { ...options, cwd: this.directory })
  }

  /** Writes the files and commits all that has changed; every commit has its own second. @returns the commit's id */
  async commit(message: string, files: Record<string, string | Uint8Array> = {}): Promise<string> {
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.directory, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
    }
    const date = new Date(Date.UTC(2026, 0, 1) + 1000 * ++this.#commits).toISOString()
    const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    await this.git('add', '--all')
    await this.#git.run(['commit', '--quiet', '--allow-empty', '--message', message], { cwd: this.directory, env })
    return this.resolve('HEAD')
  }

  async resolve(revision: string): Promise<string> {
    return this.git('rev-parse', '--verify', revision)
  }

  /** Every object that a ref reaches: sorted ids. */
  async objectIds(): Promise<string[]> {
    const listing = await this.git('rev-list', '--objects', '--all')
    return listing
      .split('\n')
      .map((line) => line.slice(0, 40))
      .sort()
  }

  /** Objects in the object store, loose or packed, reachable or not. An object that is in two packs counts twice. */
  async objectCount(): Promise<number> {
    const counts = await this.git('count-objects', '--verbose')
    const number = (key: string) => Number(new RegExp(`^${key}: (\\d+)$`, 'm').exec(counts)?.[1])
    return number('count') + number('in-pack')
  }

  /** Branches, tags and the rest: full name to id. A clone's remote-tracking branches count as branches. */
  async refs(): Promise<Record<string, string>> {
    const listing = await this.git('for-each-ref', '--format=%(refname) %(objectname)')
    const entries = listing
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const at = line.lastIndexOf(' ')
        return [line.slice(0, at).replace('refs/remotes/origin/', 'refs/heads/'), line.slice(at + 1)] as const
      })
    return Object.fromEntries(entries.filter(([name]) => name !== 'refs/heads/HEAD'))
  }

  /** @throws GitError where anything is wrong with any object, or one is missing */
  async fsck(): Promise<void> {
    await this.git('fsck', '--strict', '--full', '--no-dangling', '--no-progress')
  }
}

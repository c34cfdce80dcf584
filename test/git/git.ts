import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** For tests that start git dozens of times: a busy machine takes its time. */
export const GIT_TIME = { timeout: 120_000 }

/** A scratch repository of the real git, free of the machine's own configuration. */
export class ScratchRepository {
  readonly path: string

  constructor(options: { readonly bare?: boolean } = {}) {
    this.path = mkdtempSync(join(tmpdir(), 'skein-git-'))
    this.git(['init', '-q', '-b', 'main', ...(options.bare ? ['--bare'] : [])])
  }

  /** Runs git and gives its output. @throws where git fails. */
  git(args: readonly string[], input?: Uint8Array | string, env: Record<string, string> = {}): Uint8Array {
    return execFileSync('git', args, {
      cwd: this.path,
      env: { ...process.env, ...ENVIRONMENT, ...env },
      input: input ?? '',
      maxBuffer: 1 << 30,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  }

  /** The same as text, without the final newline. */
  text(args: readonly string[], input?: Uint8Array | string, env: Record<string, string> = {}): string {
    return new TextDecoder().decode(this.git(args, input, env)).replace(/\n$/, '')
  }

  /** Stores an object whatever its form, and gives its id. */
  store(type: 'blob' | 'tree' | 'commit' | 'tag', bytes: Uint8Array | string): string {
    return this.text(['hash-object', '-t', type, '-w', '--literally', '--stdin'], bytes)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

const ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
  GIT_COMMITTER_DATE: '1700000000 +0100',
  LC_ALL: 'C.UTF-8',
}

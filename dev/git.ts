import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * The real git, cut off from the machine's and the user's configuration: what it does depends only on its arguments.
 * Author, committer and dates are fixed, so that the same commands make the same object ids; it asks nothing on a
 * terminal, and a hang is an error.
 */
export class Git {
  /** For other programs that run git. */
  readonly environment: NodeJS.ProcessEnv

  /** `home` is an empty directory: git may write its own files there. */
  constructor(home: string) {
    this.environment = {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CONFIG_HOME: home,
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Alice',
      GIT_AUTHOR_EMAIL: 'alice@example.com',
      GIT_AUTHOR_DATE: '2026-01-01T12:00:00Z',
      GIT_COMMITTER_NAME: 'Alice',
      GIT_COMMITTER_EMAIL: 'alice@example.com',
      GIT_COMMITTER_DATE: '2026-01-01T12:00:00Z',
      ...gitConfiguration({
        'init.defaultBranch': 'main',
        'advice.detachedHead': 'false',
        'gc.auto': '0',
        'maintenance.auto': 'false',
        'core.autocrlf': 'false',
      }),
    }
  }

  /** @throws GitError where git exits with another status than 0 */
  async run(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
    const result = await this.try(args, options)
    if (result.status !== 0) throw new GitError(args, result)
    return result
  }

  /**
   * Runs git with each of these lists of arguments, all at once. A shell starts them: to start a process takes as long as
   * the one that does it is large, 50 ms where the PDS is in it, which stands still meanwhile.
   *
   * @throws GitError where git exits with another status than 0 for any of them, once all have ended
   */
  async runAtOnce(commands: readonly (readonly string[])[], options: GitOptions = {}): Promise<void> {
    const starts = commands.map((args, n) => `git ${args.map(quote).join(' ')} & p${n}=$!`)
    const waits = commands.map((_, n) => `wait $p${n} || status=$?`)
    const result = await this.#spawn(
      'sh',
      ['-c', [...starts, 'status=0', ...waits, 'exit $status'].join('\n')],
      options,
    )
    if (result.status !== 0) throw new GitError(commands.flat(), result)
  }

  /** The same as `run`, but any exit status is an answer. */
  try(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
    return this.#spawn('git', args, options)
  }

  async #spawn(program: string, args: readonly string[], options: GitOptions): Promise<GitResult> {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...this.environment, ...options.env },
      stdio: 'pipe',
      timeout: options.timeoutMilliseconds ?? 60_000,
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    // git may exit without reading all of its input; its exit status tells.
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(options.input ?? '')
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    const output = Buffer.concat(stdout)
    const errors = Buffer.concat(stderr).toString() + (signal ? `git was ended by ${signal}: it took too long\n` : '')
    return { status: code ?? 128, output, stdout: output.toString(), stderr: errors }
  }
}

/** For a shell. */
function quote(argument: string): string {
  return `'${argument.replaceAll("'", "'\\''")}'`
}

export interface GitOptions {
  readonly cwd?: string
  /** Over the fixed environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** Default a minute. */
  readonly timeoutMilliseconds?: number
}

export interface GitResult {
  readonly status: number
  /** What git printed, as bytes, and the same as text. */
  readonly output: Buffer
  readonly stdout: string
  readonly stderr: string
}

export class GitError extends Error {
  override readonly name = 'GitError'
  readonly result: GitResult

  constructor(args: readonly string[], result: GitResult) {
    super(`git ${args.join(' ')} exited with status ${result.status}\n${result.stderr}${result.stdout}`)
    this.result = result
  }
}

/** Configuration as environment variables, which reach the processes that git itself starts. */
function gitConfiguration(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings)
  const variables = entries.flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${n}`, key],
    [`GIT_CONFIG_VALUE_${n}`, value],
  ])
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(entries.length)], ...variables])
}

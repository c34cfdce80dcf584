import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** What stops a deployment, in words for the one who deploys: said without a stack trace. */
export class DeployError extends Error {
  override readonly name = 'DeployError'
}

export interface WranglerResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface WranglerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Its standard input, which nobody else sees. Default: nothing, so that it cannot ask. */
  readonly input?: string
}

/** The `wrangler` in PATH, run in one folder; npm puts that of the lock file first. */
export class Wrangler {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Any exit status is an answer. @throws {@link DeployError} where there is no wrangler */
  async ask(args: readonly string[], options: WranglerOptions = {}): Promise<WranglerResult> {
    const child = spawn('wrangler', args, {
      cwd: this.#directory,
      env: {
        ...process.env,
        WRANGLER_SEND_METRICS: 'false',
        // With its banner it would ask the registry for a newer version.
        WRANGLER_HIDE_BANNER: 'true',
        NO_COLOR: '1',
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    }
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(options.input ?? '')
    const [status] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new DeployError('There is no wrangler in PATH: use npm run deploy.') : error
    })) as [number | null]
    return { status: status ?? 1, ...output }
  }

  /** @throws {@link DeployError} with what wrangler says, where it fails */
  async run(args: readonly string[], options: WranglerOptions = {}): Promise<WranglerResult> {
    const result = await this.ask(args, options)
    if (result.status !== 0) throw failed(args, result)
    return result
  }

  /** Of a command that prints JSON. @throws {@link DeployError} where it fails, or prints something else */
  async json<T>(args: readonly string[]): Promise<T> {
    const result = await this.run(args)
    try {
      return JSON.parse(result.stdout) as T
    } catch {
      throw new DeployError(`wrangler ${args.join(' ')} was to print JSON, and printed:\n${result.stdout}`)
    }
  }
}

export function failed(args: readonly string[], { stdout, stderr }: WranglerResult): DeployError {
  return new DeployError(
    `wrangler ${args.join(' ')} failed:\n${[stderr, stdout].map((text) => text.trim()).join('\n')}`,
  )
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf } from '../../dev/deploy/health.ts'
import { listResources } from '../../dev/deploy/resources.ts'

const DEPLOY = join(import.meta.dirname, '..', '..', 'dev', 'deploy.ts')
const FAKE = join(import.meta.dirname, 'fake-wrangler.mjs')

interface Call {
  readonly command: string
  readonly input: string
}

/** A Cloudflare account, as far as the fake wrangler plays it. */
interface AccountState {
  accounts: { id: string; name: string }[]
  databases: string[]
  buckets: string[]
  queues: string[]
  secrets: Record<string, string>
  hasTables: boolean
  isDeployed: boolean
  targets: string[]
  /** Commands that begin so fail. */
  failing: string | null
}

const EMPTY: AccountState = {
  accounts: [{ id: 'a1', name: 'Alice' }],
  databases: [],
  buckets: [],
  queues: [],
  secrets: {},
  hasTables: false,
  isDeployed: false,
  targets: [],
  failing: null,
}

/** An account, and `npm run deploy` into it. */
class Trial {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async begin(state: Partial<AccountState> = {}): Promise<Trial> {
    const folder = await mkdtemp(join(tmpdir(), 'skein-deploy-test-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await mkdir(join(folder, 'bin'))
    await copyFile(FAKE, join(folder, 'bin', 'wrangler'))
    const trial = new Trial(folder)
    await trial.set({ ...EMPTY, ...state })
    return trial
  }

  async state(): Promise<AccountState> {
    return JSON.parse(await readFile(join(this.#folder, 'state.json'), 'utf8')) as AccountState
  }

  async set(state: Partial<AccountState>): Promise<void> {
    const before = await this.state().catch(() => EMPTY)
    await writeFile(join(this.#folder, 'state.json'), JSON.stringify({ ...before, ...state }))
  }

  async deploy(...args: string[]): Promise<{ status: number; stdout: string; stderr: string; calls: Call[] }> {
    const log = join(this.#folder, 'calls.ndjson')
    await writeFile(log, '')
    const env = {
      ...process.env,
      PATH: `${join(this.#folder, 'bin')}${delimiter}${process.env.PATH}`,
      FAKE_WRANGLER: this.#folder,
    }
    const child = spawn(process.execPath, [DEPLOY, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    }
    const [status] = (await once(child, 'close')) as [number]
    const calls = (await readFile(log, 'utf8')).split('\n').filter(Boolean)
    return { status, ...output, calls: calls.map((line) => JSON.parse(line) as Call) }
  }
}

/** An edge that answers `/health` with this status. */
async function startHealth(status: number): Promise<string> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/health' ? status : 404
    response.end('{"status":"as asked"}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const changes = (calls: readonly Call[]) =>
  calls.map(({ command }) => command).filter((command) => /\bcreate\b|\bput\b|\bapply\b|^deploy$/.test(command))

test('the first deployment creates what is missing, and brings tables before code and secrets after it', async () => {
  const trial = await Trial.begin({ targets: [await startHealth(200), 'schedule: 37 4 * * *'] })
  const { status, stdout, stderr, calls } = await trial.deploy('--yes', '--location', 'weur')
  expect(stderr).toBe('')
  expect(status).toBe(0)
  const made = changes(calls)
  expect(made[0]).toBe('d1 create skein --update-config=false --location weur')
  expect(made[1]).toBe('r2 bucket create skein-packs --update-config=false --location weur')
  expect(made.slice(-3)).toEqual([
    'd1 migrations apply skein --remote',
    'deploy',
    'secret put SESSION_KEY --name skein',
  ])
  const { SESSION_KEY } = (await trial.state()).secrets
  expect(Buffer.from(SESSION_KEY as string, 'base64').length).toBe(32)
  expect(stdout + stderr).not.toContain(SESSION_KEY)
  expect(stdout).toContain('OPERATOR_TOKEN: is not set')
  expect(stdout).toContain('{"status":"as asked"}')
})

test('the second deployment creates nothing and sets no secret', async () => {
  const trial = await Trial.begin({ targets: [await startHealth(200)] })
  await trial.deploy('--yes')
  const before = await trial.state()
  const { status, stdout, calls } = await trial.deploy()
  expect(status).toBe(0)
  expect(changes(calls).filter((command) => !command.startsWith('r2 bucket create'))).toEqual([
    'd1 migrations apply skein --remote',
    'deploy',
  ])
  expect(stdout).toContain('bucket skein-packs: is there')
  expect(stdout).toContain('nothing new')
  expect(await trial.state()).toEqual(before)
})

test.for(['r2 bucket create', 'd1 migrations apply', 'deploy', 'secret put'])(
  'a deployment that failed at `%s` goes on where it was',
  async (failing) => {
    const trial = await Trial.begin({ failing, targets: [await startHealth(200)] })
    const failed = await trial.deploy('--yes')
    expect(failed.status).toBe(1)
    expect(failed.stderr).toMatch(new RegExp(`^wrangler ${failing}.* failed:\n`))
    expect(failed.stderr).toContain('[code: 10013]')
    expect(failed.stderr).not.toContain('    at ')
    await trial.set({ failing: null })
    expect((await trial.deploy('--yes')).status).toBe(0)
    const { databases, buckets, isDeployed, secrets } = await trial.state()
    expect({ databases, buckets, isDeployed, secrets: Object.keys(secrets) }).toEqual({
      databases: ['skein'],
      buckets: ['skein-packs'],
      isDeployed: true,
      secrets: ['SESSION_KEY'],
    })
  },
)

test('without a login nothing is done, and it says what to do', async () => {
  const trial = await Trial.begin({ accounts: [] })
  const { status, stderr, calls } = await trial.deploy('--yes')
  expect(status).toBe(1)
  expect(stderr).toContain('npx wrangler login')
  expect(changes(calls)).toEqual([])
})

test('of several accounts one has to be chosen', async () => {
  const accounts = [
    { id: 'a1', name: 'Alice' },
    { id: 'b2', name: 'Bob' },
  ]
  const trial = await Trial.begin({ accounts })
  const { status, stderr, calls } = await trial.deploy('--yes')
  expect(status).toBe(1)
  expect(stderr).toContain('CLOUDFLARE_ACCOUNT_ID')
  expect(stderr).toContain('b2  Bob')
  expect(changes(calls)).toEqual([])
})

test('without a terminal and without --yes no key is generated, and nothing is uploaded', async () => {
  const trial = await Trial.begin()
  const { status, stderr, calls } = await trial.deploy()
  expect(status).toBe(1)
  expect(stderr).toContain('SESSION_KEY is not set')
  expect(changes(calls)).not.toContain('deploy')
})

test('an edge that is not well fails the deployment, and says how to go back', async () => {
  const trial = await Trial.begin({ targets: [await startHealth(503)] })
  const { status, stderr } = await trial.deploy('--yes', '--wait', '0')
  expect(status).toBe(1)
  expect(stderr).toContain('/health answers 503')
  expect(stderr).toContain('wrangler rollback')
})

test('--dry-run prints the steps, and asks nobody', async () => {
  const trial = await Trial.begin({ accounts: [] })
  const { status, stdout, calls } = await trial.deploy('--dry-run')
  expect(status).toBe(0)
  expect(calls.map(({ command }) => command)).toEqual(['deploy --dry-run'])
  const order = [
    'whoami',
    'd1 create skein',
    'r2 bucket create skein-packs',
    'secret list',
    'd1 migrations apply skein',
  ]
  const places = [...order, 'wrangler deploy ', 'secret put SESSION_KEY'].map((step) => stdout.indexOf(step))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(Math.min(...places)).toBeGreaterThan(0)
})

test('queues that are only read, and those of dead letters, are there before the Worker is', () => {
  const queues = {
    producers: [{ queue: 'events' }],
    consumers: [{ queue: 'events', dead_letter_queue: 'dead' }, { queue: 'dead' }],
  }
  expect(listResources({ d1_databases: [], r2_buckets: [], queues })).toEqual([
    { kind: 'queue', name: 'events' },
    { kind: 'queue', name: 'dead' },
  ])
})

test('a domain of its own is where the edge is, before its workers.dev address', () => {
  const workersDev = 'https://skein.alice.workers.dev'
  expect(addressOf(['schedule: * * * * *', workersDev, 'git.example.com (custom domain)'])).toBe(
    'https://git.example.com',
  )
  expect(addressOf(['schedule: * * * * *', workersDev])).toBe(workersDev)
  expect(addressOf(['schedule: * * * * *'])).toBeNull()
})

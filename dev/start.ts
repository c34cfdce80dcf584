import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Account, type Atmosphere, AtmosphereError, startAtmosphere } from './atmosphere.ts'
import { createDemoRepository } from './demo-repository.ts'
import { type Edge, startEdge } from './edge.ts'
import { Git } from './git.ts'

const USAGE = `npm start -- [options]

Runs a local Atmosphere (a PDS and a PLC directory) and the edge, with two accounts and a demo repository.

  --port N      where the edge listens (default 8787)
  --keep DIR    keep all state in DIR; start again with the same DIR to go on
  --json        print one line of JSON when ready, and nothing else (npm start --silent hides npm's own lines)
  --help        print this
`

/** What goes wrong because of how it was started: said without a stack trace. */
class StartError extends Error {
  override readonly name = 'StartError'
}

interface Options {
  readonly port: number
  readonly keep: string | null
  readonly json: boolean
}

/** Local accounts: their passwords are printed, and open nothing outside this machine. */
const ACCOUNTS = [
  { handle: 'alice.test', password: 'alice-local' },
  { handle: 'bob.test', password: 'bob-local' },
] as const
/** Of the edge, for `npm run operate`; as the passwords, it opens nothing else. */
const OPERATOR_TOKEN = 'local-operator-local-operator-local'
const DEMO = 'demo'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const PARENT_CHECK_MILLISECONDS = 250

async function main(): Promise<void> {
  const options = readOptions()
  await using cleanup = new AsyncDisposableStack()
  const directory = options.keep ?? (await mkdtemp(join(tmpdir(), 'skein-')))
  if (options.keep === null) {
    cleanup.defer(() => rm(directory, { recursive: true, force: true }))
    // Until everything runs a signal ends the process at once, past the stack.
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
    for (const signal of SIGNALS) process.once(signal, () => process.exit(1))
  }

  await checkPort(options.port)
  const say = options.json ? () => undefined : (line: string) => console.log(line)
  say('Starting the Atmosphere and the edge …')
  const atmosphere = await startAtmosphere({ stateDirectory: join(directory, 'atmosphere') }).catch(
    (error: unknown) => {
      throw explained(error, options)
    },
  )
  cleanup.defer(() => atmosphere.close())
  const edge = await startEdge({
    port: options.port,
    stateDirectory: join(directory, 'edge'),
    pdsUrl: atmosphere.pdsUrl,
    plcUrl: atmosphere.plcUrl,
    // So that what another client writes into an account is seen here at once.
    vars: { UPSTREAMS: atmosphere.streamUrl(0), OPERATOR_TOKEN },
    // The Worker logs what fails, and answers that it has logged it: here is where one looks.
    onLog: ({ level, message }) => {
      if (level !== 'debug') console.error(message)
    },
  })
  cleanup.defer(() => edge.close())

  const accounts: Account[] = []
  for (const account of ACCOUNTS) accounts.push(await atmosphere.createAccount(account))
  const [alice] = accounts as [Account]
  if (!(await hasDemo(atmosphere, alice))) await pushDemo(edge, alice, join(directory, 'demo'))
  const token = await demoToken(edge, alice, join(directory, 'token.json'))

  const stopAsked = nextSignal()
  const ready = { edge, atmosphere, accounts, token }
  console.log(options.json ? readyLine(ready) : welcome(ready, options))
  await stopAsked
  say('\nStopping …')
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '8787' },
        keep: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const port = Number(values.port)
    if (!/^\d+$/.test(values.port) || port < 1 || port > 65_535) throw new Error(`--port ${values.port} is no port`)
    return { port, json: values.json, keep: values.keep === undefined ? null : resolve(values.keep) }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

/** Before anything else starts, so that the answer comes at once. */
async function checkPort(port: number): Promise<void> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${error.message})`
      const other = port < 65_535 ? port + 1 : port - 1
      reject(new StartError(`Port ${port} ${why}. Stop that one, or choose another port: npm start -- --port ${other}`))
    })
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()))
  })
}

/** The PDS comes back on the port that its accounts' documents name: a second start on the same state finds it taken. */
function explained(error: unknown, { keep }: Options): unknown {
  const cause = error instanceof AtmosphereError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
  if (keep === null || cause?.code !== 'EADDRINUSE') return error
  return new StartError(`The port of the PDS kept in ${keep} is taken: is another npm start running with this --keep?`)
}

/** Whether an earlier run on the same state has pushed it: the owner may have changed it since. */
async function hasDemo({ pdsUrl }: Atmosphere, { did }: Account): Promise<boolean> {
  const response = await fetch(
    `${pdsUrl}/xrpc/com.atproto.repo.listRecords?repo=${did}&collection=dev.skein.repo&limit=100`,
  )
  const { records } = (await response.json()) as { records: { value: { name?: unknown } }[] }
  return records.some(({ value }) => value.name === DEMO)
}

async function pushDemo(edge: Edge, alice: Account, directory: string): Promise<void> {
  const home = await mkdtemp(`${directory}-home-`)
  try {
    const git = new Git(home)
    await rm(directory, { recursive: true, force: true })
    await createDemoRepository(git, directory)
    await git.run(['push', '--quiet', '--all', withPassword(edge, alice, DEMO)], { cwd: directory })
    await git.run(['push', '--quiet', '--tags', withPassword(edge, alice, DEMO)], { cwd: directory })
  } finally {
    await rm(home, { recursive: true, force: true })
    await rm(directory, { recursive: true, force: true })
  }
}

function withPassword(edge: Edge, { handle, password }: Account, repository: string): string {
  return `${edge.url.replace('//', `//${handle}:${password}@`)}/${handle}/${repository}`
}

/** A token for the gateway that may do all that its owner may: the kept one, as long as it is good, or a new one. */
async function demoToken(edge: Edge, alice: Account, path: string): Promise<string> {
  if (existsSync(path)) {
    const kept = JSON.parse(await readFile(path, 'utf8')) as IssuedToken
    if (Date.parse(kept.expiresAt) > Date.now()) return kept.token
  }
  const issued = await createToken(edge, alice)
  await writeFile(path, JSON.stringify(issued), { mode: 0o600 })
  return issued.token
}

/** The answer of `dev.skein.token.create`, as far as it is needed. */
interface IssuedToken {
  readonly token: string
  readonly expiresAt: string
}

async function createToken(edge: Edge, { handle, password }: Account): Promise<IssuedToken> {
  const response = await fetch(`${edge.url}/xrpc/dev.skein.token.create`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${handle}:${password}`).toString('base64')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ label: 'npm start', rights: ['read', 'commit', 'branch', 'merge'] }),
  })
  if (!response.ok) throw new Error(`no token for ${handle}: ${await response.text()}`)
  return (await response.json()) as IssuedToken
}

/** All that was started, and how to get at it. */
interface Ready {
  readonly edge: Edge
  readonly atmosphere: Atmosphere
  readonly accounts: readonly Account[]
  /** Of the first account. */
  readonly token: string
}

function readyLine({ edge, atmosphere, accounts, token }: Ready): string {
  return JSON.stringify({
    edge: edge.url,
    pds: atmosphere.pdsUrl,
    plc: atmosphere.plcUrl,
    accounts: accounts.map(({ handle, did, password }) => ({ handle, did, password })),
    token,
    operatorToken: OPERATOR_TOKEN,
  })
}

function welcome({ edge, atmosphere, accounts, token }: Ready, options: Options): string {
  const [alice] = accounts as [Account]
  const rows = accounts.map(
    ({ handle, password, did }) => `  ${handle.padEnd(12)} password ${password.padEnd(14)} ${did}`,
  )
  return `
Skein is ready at ${edge.url}

${rows.join('\n')}
  PDS ${atmosphere.pdsUrl}   PLC directory ${atmosphere.plcUrl}
  for npm run operate: SKEIN_EDGE=${edge.url} SKEIN_OPERATOR_TOKEN=${OPERATOR_TOKEN}

In another terminal, clone the demo repository:

  git clone ${edge.url}/${alice.handle}/${DEMO}

change it, and push it back into the account (the password stands in the address):

  cd ${DEMO}
  git -c user.name=Alice -c user.email=alice@example.com commit --allow-empty -m 'Hello, Atmosphere'
  git push ${withPassword(edge, alice, DEMO)} HEAD

or push a repository of yours; the push creates it:

  git push ${withPassword(edge, alice, 'mine')} HEAD

or commit without git, as agents do, by a token (docs/gateway.md):

  curl -sS -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${firstCommit(alice)}' ${edge.url}/xrpc/dev.skein.gateway.commit

${options.keep === null ? 'Nothing is kept: --keep DIR keeps it.' : `All state is kept in ${options.keep}.`} Ctrl-C stops everything.
`
}

/** What the command that is printed hands in: pasted twice, it says that there is nothing to commit. */
function firstCommit({ handle }: Account): string {
  return JSON.stringify({
    repo: `${handle}/${DEMO}`,
    branch: 'main',
    message: 'Hello from the gateway',
    changes: [{ path: 'hello.txt', content: 'Hello, Atmosphere\n' }],
  })
}

/**
 * Settles at the first signal; a second one ends the process at once. Call it when everything runs: Miniflare and
 * wrangler would end the process at a signal, before the rest is stopped, so their listeners go.
 */
function nextSignal(): Promise<void> {
  const parent = process.ppid
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.removeAllListeners(signal)
      process.once(signal, () => {
        // By `exit`, so that Miniflare's hook still ends workerd.
        process.once(signal, () => process.exit(1))
        resolve()
      })
    }
    // npm runs this in a shell, and a shell that is told to end does so without a word to its child.
    setInterval(() => {
      if (process.ppid !== parent) resolve()
    }, PARENT_CHECK_MILLISECONDS).unref()
  })
}

try {
  await main()
  process.exit(0)
} catch (error) {
  const plain = error instanceof StartError || error instanceof AtmosphereError
  console.error(plain ? error.message : error)
  process.exit(1)
}

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { unstable_readConfig } from 'wrangler'
import { findAccount, WHO_AM_I } from './deploy/account.ts'
import { configError } from './deploy/config-error.ts'
import { addressOf, checkHealth } from './deploy/health.ts'
import { createCommand, type DeployConfig, ensure, findCommand, listResources } from './deploy/resources.ts'
import { findMissing, listCommand, putCommand, putSecret, SECRETS, type Secret } from './deploy/secrets.ts'
import { DeployError, Wrangler } from './deploy/wrangler.ts'

const USAGE = `npm run deploy -- [options]

Brings the edge of wrangler.toml into a Cloudflare account, or up to date there: what is missing is created, the
database gets its tables before the new code comes, and secrets are never printed. Run it again after a failure: it goes
on where it was. docs/deploy.md tells the whole way.

  --dry-run        bundle the Worker and print each step, without an account
  --location HINT  where a bucket and a database that are new are to lie: weur, eeur, apac, oc, wnam or enam
  --yes            generate a missing SESSION_KEY without a question
  --wait N         seconds until the new edge has to be well (default 120; 0 asks once)
  --help           print this
`

const ROOT = join(import.meta.dirname, '..')
const LOCATIONS = ['weur', 'eeur', 'apac', 'oc', 'wnam', 'enam']
const BUNDLE = ['deploy', '--dry-run']
const DEPLOY = ['deploy']

interface Options {
  readonly isDryRun: boolean
  readonly location: string | undefined
  readonly yes: boolean
  /** Seconds. */
  readonly wait: number
}

async function main(): Promise<void> {
  const options = readOptions()
  const wrangler = new Wrangler(ROOT)
  const config = readConfig()
  const { name } = config
  if (name === undefined) throw new DeployError('wrangler.toml has no name for the Worker.')

  say('The bundle')
  const bundled = await wrangler.run(BUNDLE)
  say(`  ${/Total Upload: .*/.exec(bundled.stdout)?.[0] ?? 'is made'}`)
  if (options.isDryRun) return printSteps(config, name, options)

  say('The account')
  say(`  ${await findAccount(wrangler, process.env.CLOUDFLARE_ACCOUNT_ID ?? config.account_id)}`)

  say('What the Worker is bound to')
  for (const resource of listResources(config)) {
    say(`  ${resource.kind} ${resource.name}: ${await ensure(wrangler, resource, options.location)}`)
  }

  say('Secrets')
  const missing = await findMissing(wrangler, name)
  for (const secret of SECRETS) if (!missing.includes(secret)) say(`  ${secret.name}: is set`)
  const generated = await agreeOn(missing, name, options)

  say('Tables')
  for (const command of migrationCommands(config)) {
    const { stdout } = await wrangler.run(command)
    say(`  ${stdout.includes('No migrations to apply') ? 'nothing new' : 'brought up to date'}`)
  }

  say('The Worker')
  const { targets, version } = await deploy(wrangler)
  say(`  version ${version}`)
  for (const target of targets) say(`  ${target}`)
  for (const secret of generated) {
    await putSecret(wrangler, name, secret, secret.generate?.() as string)
    say(`  ${secret.name}: set`)
  }

  say('Health')
  const address = addressOf(targets)
  if (address === null) say('  no address is known to ask: look at <address>/health')
  else say(`  ${address} ${await checkHealth(address, options.wait * 1000)}`)
}

/** @throws {@link DeployError} */
function readConfig(): DeployConfig {
  const path = join(ROOT, 'wrangler.toml')
  try {
    return unstable_readConfig({ config: path }) as DeployConfig
  } catch (error) {
    throw configError(error, path)
  }
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        'dry-run': { type: 'boolean', default: false },
        location: { type: 'string' },
        yes: { type: 'boolean', default: false },
        wait: { type: 'string', default: '120' },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const { location } = values
    if (location !== undefined && !LOCATIONS.includes(location)) throw new Error(`--location ${location} is no hint`)
    if (!/^\d{1,5}$/.test(values.wait)) throw new Error(`--wait ${values.wait} is no number of seconds`)
    return { isDryRun: values['dry-run'], location, yes: values.yes, wait: Number(values.wait) }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

/** Those that are to be generated once the Worker is there. Asked before anything is uploaded. */
async function agreeOn(missing: readonly Secret[], worker: string, { yes }: Options): Promise<Secret[]> {
  const agreed: Secret[] = []
  for (const secret of missing) {
    const { name, without, generate } = secret
    const command = `npx wrangler ${putCommand(worker, secret).join(' ')}`
    if (generate === null) {
      say(`  ${name}: is not set, so ${without}. To set it: ${command}`)
    } else if (yes || (await confirm(`  ${name} is not set: without it ${without}. Generate one? [Y/n] `))) {
      agreed.push(secret)
      say(`  ${name}: will be generated`)
    } else {
      throw new DeployError(
        `${name} is not set: without it ${without}. Set it by ${command}, or have it generated: npm run deploy -- --yes`,
      )
    }
  }
  return agreed
}

/** Without a terminal nobody has agreed. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(question)
  terminal.close()
  return /^(y(es)?)?$/i.test(answer.trim())
}

/** By name: wrangler asks the account for the id, which wrangler.toml does not have. */
function migrationCommands({ d1_databases }: DeployConfig): (readonly string[])[] {
  return d1_databases.map(({ database_name }) => ['d1', 'migrations', 'apply', database_name as string, '--remote'])
}

/** The line that `wrangler deploy` writes for programs, as far as it is needed. */
interface Deployed {
  readonly type: string
  readonly version_id?: string
  readonly targets?: readonly string[]
}

async function deploy(wrangler: Wrangler): Promise<{ version: string; targets: readonly string[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'skein-deploy-'))
  try {
    const output = join(directory, 'output.ndjson')
    await wrangler.run(DEPLOY, { env: { WRANGLER_OUTPUT_FILE_PATH: output } })
    const lines = (await readFile(output, 'utf8')).split('\n').filter((line) => line !== '')
    const deployed = lines.map((line) => JSON.parse(line) as Deployed).find(({ type }) => type === 'deploy')
    return { version: deployed?.version_id ?? 'unknown', targets: deployed?.targets ?? [] }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function printSteps(config: DeployConfig, worker: string, { location }: Options): void {
  const step = (command: readonly string[], why: string) => say(`  wrangler ${command.join(' ').padEnd(60)}  ${why}`)
  say('What would be done')
  step(WHO_AM_I, 'who is signed in')
  for (const resource of listResources(config)) {
    const find = findCommand(resource)
    if (find !== null) step(find, `is the ${resource.kind} there?`)
    step(createCommand(resource, location), find === null ? 'if it is not there' : 'if it is not')
  }
  step(listCommand(worker), 'which secrets are set')
  for (const command of migrationCommands(config)) step(command, 'tables, before the code that needs them')
  step(DEPLOY, 'the Worker, its objects, crons, queues and domains')
  for (const secret of SECRETS.filter(({ generate }) => generate !== null))
    step(putCommand(worker, secret), 'random bytes, if it is not set')
  say('  GET /health of the new edge')
}

function say(line: string): void {
  console.log(line)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof DeployError ? error.message : error)
  process.exit(1)
}

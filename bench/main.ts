import { parseArgs } from 'node:util'
import { benchClone } from './clone.ts'
import { benchConcurrent } from './concurrent.ts'
import { benchCost } from './cost.ts'
import { benchFetch } from './fetch.ts'
import { benchFuzz } from './fuzz.ts'
import { benchGrowth } from './growth.ts'
import { benchIndex } from './index.ts'
import { benchKills } from './kills.ts'
import { DEFAULT_ROUNDS } from './measure.ts'
import { benchMemory } from './memory.ts'
import { benchPages } from './pages.ts'
import { benchPush } from './push.ts'
import { benchRefs } from './refs.ts'
import { formatJson, formatTable, type Report } from './report.ts'
import { benchSwarm } from './swarm.ts'

const DEFAULT_CLIENTS = 20
const DEFAULT_REFS = 20_000
const DEFAULT_KILLS = 50
const DEFAULT_EVENTS = 100_000
const DEFAULT_INPUTS = 1_000_000
const DEFAULT_SEED = 1
const DEFAULT_AGENTS = 16
const DEFAULT_ROUND_TRIP = 50

interface BenchOptions {
  /** Empty for benches that need none. */
  readonly repository: string
  readonly rounds: number
  readonly clients: number
  readonly count: number
  readonly inputs: number
  readonly seed: number
  readonly agents: number
  /** Milliseconds. */
  readonly rtt: number
}

interface Bench {
  readonly summary: string
  /** Whether the history comes from a repository. Default true. */
  readonly needsRepository?: boolean
  /** What `--count` is unless it is given, and at least. */
  readonly count?: { readonly usual: number; readonly least: number }
  readonly run: (options: BenchOptions) => Promise<Report>
}

const BENCHES: Readonly<Record<string, Bench>> = {
  push: { summary: 'a whole history, and one commit more, pushed to the edge and to git http-backend', run: benchPush },
  clone: { summary: 'the same history cloned from both', run: benchClone },
  fetch: { summary: 'a commit, 100 commits, --depth 1 and --filter=blob:none, fetched from both', run: benchFetch },
  refs: {
    summary: 'the refs of a repository that has many, and one of them',
    needsRepository: false,
    count: { usual: DEFAULT_REFS, least: 3 },
    run: benchRefs,
  },
  growth: {
    summary: 'one small push and its fetch, after 1, 100 and 2,000 pushes to one repository',
    needsRepository: false,
    run: benchGrowth,
  },
  concurrent: { summary: 'many clones at once, and ten pushes to ten branches at once', run: benchConcurrent },
  cost: { summary: 'what a clone, a push and a commit cost at Cloudflare, counted and priced', run: benchCost },
  fuzz: { summary: 'nearly right packs, objects and requests by the million', needsRepository: false, run: benchFuzz },
  memory: {
    summary: 'buffers and resident memory for 20 MB and 200 MB, pushed and cloned, and for --repo if it is given',
    needsRepository: false,
    run: benchMemory,
  },
  pages: {
    summary: 'the pages of a browser: asked again, drawn anew, and by a new process; and how large they are',
    run: benchPages,
  },
  index: {
    summary: 'a stream of pushes into an index of 100,000 repositories, and searches of it',
    needsRepository: false,
    count: { usual: DEFAULT_EVENTS, least: DEFAULT_EVENTS },
    run: benchIndex,
  },
  swarm: {
    summary: 'agents that commit at once: one branch through the gateway and by compare-and-swap, and own branches',
    needsRepository: false,
    run: benchSwarm,
  },
  kills: {
    summary: 'the runtime killed at random moments while agents commit: nothing lost, nothing twice',
    needsRepository: false,
    count: { usual: DEFAULT_KILLS, least: 1 },
    run: benchKills,
  },
}

const USAGE = `npm run bench -- <name> --repo DIR [options]

${Object.entries(BENCHES)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

  --repo DIR   the git repository to take the history from (its HEAD's branch and its tags); it is only read
  --rounds N   how often each side is measured, in turn (default and least ${DEFAULT_ROUNDS})
  --clients N  how many clones at once (concurrent; default ${DEFAULT_CLIENTS})
  --count N    how many refs (refs; default ${DEFAULT_REFS}), kills (kills; default ${DEFAULT_KILLS}), or events (index; default ${DEFAULT_EVENTS})
  --inputs N   how many inputs (fuzz; default ${DEFAULT_INPUTS})
  --seed N     which inputs (fuzz), or moments (kills; default ${DEFAULT_SEED})
  --agents N   how many agents (swarm, kills; default ${DEFAULT_AGENTS})
  --rtt N      milliseconds that the PDS is away (swarm; default ${DEFAULT_ROUND_TRIP})
  --json       one line of JSON last, after the table
  --help       print this

The exit status says whether it was measured, not how it came out.
`

const { name, json, ...options } = readArguments()
const report = await (BENCHES[name] as Bench).run(options)
console.log(formatTable(report))
if (json) console.log(formatJson(report))
process.exit(0)

function readArguments(): BenchOptions & { name: string; json: boolean } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        repo: { type: 'string' },
        rounds: { type: 'string', default: String(DEFAULT_ROUNDS) },
        clients: { type: 'string', default: String(DEFAULT_CLIENTS) },
        count: { type: 'string' },
        inputs: { type: 'string', default: String(DEFAULT_INPUTS) },
        seed: { type: 'string', default: String(DEFAULT_SEED) },
        agents: { type: 'string', default: String(DEFAULT_AGENTS) },
        rtt: { type: 'string', default: String(DEFAULT_ROUND_TRIP) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const [name, ...more] = positionals
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    if (name === undefined || !Object.hasOwn(BENCHES, name))
      throw new Error(name === undefined ? 'Which bench?' : `There is no bench ${name}.`)
    if (more.length > 0) throw new Error(`One bench at a time: ${more.join(' ')} is too much.`)
    const repository = values.repo ?? ''
    if (repository === '' && BENCHES[name]?.needsRepository !== false) throw new Error(`${name} needs --repo DIR.`)
    const { count = { usual: 1, least: 1 } } = BENCHES[name] as Bench
    const number = (option: 'rounds' | 'clients' | 'count' | 'inputs' | 'seed' | 'agents' | 'rtt', least: number) => {
      const value = Number(values[option] ?? count.usual)
      if (!Number.isInteger(value) || value < least) throw new Error(`--${option} takes a number from ${least} up.`)
      return value
    }
    return {
      name,
      json: values.json,
      repository,
      rounds: number('rounds', DEFAULT_ROUNDS),
      clients: number('clients', 1),
      count: number('count', count.least),
      inputs: number('inputs', 1),
      seed: number('seed', 0),
      agents: number('agents', 1),
      rtt: number('rtt', 0),
    }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

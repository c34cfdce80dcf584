import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Account, Atmosphere, PdsRequest } from '../../dev/atmosphere.ts'
import type { Edge } from '../../dev/edge.ts'
import type { Git } from '../../dev/git.ts'
import { ZERO_OID } from '../../git/bytes/oid.ts'
import { commitFlat, packOf } from '../flat-commit.ts'
import { Random } from '../fuzz/random.ts'
import { pushRaw } from '../push-raw.ts'
import { type GatewayAgent, type Landed, startAgents } from './gateway-agent.ts'
import { findDisorder, type LoggedCommit, readLog } from './read-log.ts'

/** Where a trial takes place. The edge is empty at its end, but for what it has read from the account since. */
export interface KillPlace {
  readonly atmosphere: Atmosphere
  readonly edge: Edge
  readonly git: Git
  readonly owner: Account
}

export interface KillOptions {
  /** Clients that commit all the time, one commit after the other each. */
  readonly clients: number
  /** How often the runtime is killed. */
  readonly kills: number
  readonly seed: number
  /** Name of the repository, which must be new. */
  readonly repository: string
}

/** What has come of it. The lists name commits, and are empty where all is as it must be. */
export interface KillOutcome {
  readonly handedIn: number
  /** Those whose clients have been told that they landed. */
  readonly acknowledged: number
  /** Those whose clients have been told that they are stored, and have not asked again. */
  readonly stored: number
  /** Those whose clients know nothing and have gone on; how many of them have landed. */
  readonly unknown: number
  readonly unknownLanded: number
  /** Requests whose connection broke. */
  readonly broken: number
  /** Faults of the PDS by kind. */
  readonly faults: Readonly<Record<string, number>>
  /** Answers that no client should ever get. */
  readonly strange: readonly string[]
  /** Acknowledged or stored, and not there, or not as the commit that was named. */
  readonly lost: readonly string[]
  /** There more than once. */
  readonly doubled: readonly string[]
  /** Before one that the same client handed in earlier. */
  readonly disordered: readonly string[]
  /** Acknowledged by two different answers. */
  readonly contradicted: readonly string[]
  /** Whether the account alone gives the same history as the edge did. */
  readonly isInAccount: boolean
  /** What git fsck complains about, for each clone that it does not find sound. */
  readonly unsound: readonly string[]
}

/** What a client knows of one of its commits. */
interface Known {
  readonly subject: string
  /** Id of the commit where it has been told that it landed. */
  commit: string | null
  isStored: boolean
}

const BRANCH = 'main'
/** Longest pause of a client before it tries again, in milliseconds: it does what it is told, but hurries. */
const LONGEST_PAUSE = 500
/** The runtime is killed so long after what was waited for, at most. Milliseconds. */
const LONGEST_DELAY = 150
/** A write takes about so long. Milliseconds. */
const WRITE = 20
const APPLY_WRITES = 'com.atproto.repo.applyWrites'

/**
 * Clients commit to one branch, each one commit after the other, as docs/gateway.md tells them to: by a key each, and
 * once more where a connection breaks. Some give up then, some do not wait, some ask again for what they know. Meanwhile
 * the runtime is killed again and again and starts again on what it has stored, and the PDS fails in all its ways. In
 * the end a real clone shows what the branch has.
 */
export async function killTrial(place: KillPlace, options: KillOptions): Promise<KillOutcome> {
  const { edge, owner } = place
  const { clients, seed, repository } = options
  const repo = `${owner.handle}/${repository}`
  const base = commitFlat({ parent: null, write: new Map([['a.txt', 'a\n']]), message: 'base', time: 1_700_000_000 })
  const updates = [{ name: `refs/heads/${BRANCH}`, from: ZERO_OID, to: base.oid }]
  await pushRaw(`${edge.url}/${repo}`, owner, updates, packOf(base.objects))
  const agents = await startAgents(edge.url, owner, clients)
  const trial = new Trial(repo)
  const running = agents.map((agent, n) => trial.runClient(agent, n, new Random(seed * 1_000 + n)))
  const faults = await disturb(place, options, trial)
  trial.isOver = true
  await Promise.all(running)
  // What was handed in before this has landed when this has.
  const last = await trial.commit(agents[0] as GatewayAgent, 'end', 'end.txt', new Random(seed), { mayLeave: false })
  for (const { connection } of agents) connection.close()
  return { ...(await judge(place, repo, trial, [...trial.commits, last])), faults }
}

class Trial {
  readonly commits: Known[] = []
  readonly strange: string[] = []
  readonly contradicted: string[] = []
  broken = 0
  isOver = false
  readonly #repo: string
  #acknowledged = 0
  #listeners = new Set<() => void>()

  constructor(repo: string) {
    this.#repo = repo
  }

  /** Settles when so many more have been acknowledged. */
  acknowledgements(count: number): Promise<void> {
    const until = this.#acknowledged + count
    return new Promise((resolve) => {
      const listen = () => {
        if (this.#acknowledged < until) return
        this.#listeners.delete(listen)
        resolve()
      }
      this.#listeners.add(listen)
      listen()
    })
  }

  async runClient(agent: GatewayAgent, n: number, random: Random): Promise<void> {
    for (let k = 0; !this.isOver; k++) {
      const known = await this.commit(agent, `client ${n} commit ${k}`, `client-${n}.txt`, random, { mayLeave: true })
      this.commits.push(known)
      if (known.commit !== null && random.below(6) === 0) await this.#ask(agent, known)
    }
  }

  /** Hands a commit in until it is known what became of it, or the client has had enough. */
  async commit(
    agent: GatewayAgent,
    subject: string,
    path: string,
    random: Random,
    { mayLeave }: { readonly mayLeave: boolean },
  ): Promise<Known> {
    const known: Known = { subject, commit: null, isStored: false }
    const input = { ...this.#input(subject, path), wait: !mayLeave || random.below(5) > 0 }
    for (;;) {
      const answer = await agent.call('commit', input).catch(() => null)
      if (answer === null) {
        this.broken++
        if (mayLeave && random.below(8) === 0) return known
        await pause(random.below(LONGEST_PAUSE))
        continue
      }
      const { status, body, retryAfterSeconds } = answer
      if (status === 200) {
        known.commit = (JSON.parse(body.toString()) as Landed).commit
        this.#acknowledged++
        for (const listen of this.#listeners) listen()
        return known
      }
      if (status === 202) {
        known.isStored = true
        if (mayLeave && random.below(4) === 0) return known
      } else if (status !== 429 && status !== 503) {
        this.strange.push(`${subject}: ${status} ${body}`)
        return known
      }
      await pause(Math.min((retryAfterSeconds ?? 1) * 1_000, random.below(LONGEST_PAUSE)))
    }
  }

  /** What is known is handed in once more: the answer must be the same. */
  async #ask(agent: GatewayAgent, { subject, commit }: Known): Promise<void> {
    const path = `${subject.split(' ').slice(0, 2).join('-')}.txt`
    const answer = await agent.call('commit', this.#input(subject, path)).catch(() => null)
    if (answer === null) this.broken++
    else if (answer.status === 200) {
      const again = (JSON.parse(answer.body.toString()) as Landed).commit
      if (again !== commit) this.contradicted.push(`${subject}: ${commit}, then ${again}`)
    } else this.strange.push(`${subject}, known before: ${answer.status} ${answer.body}`)
  }

  #input(subject: string, path: string) {
    const changes = [{ path, content: `${subject}\n` }]
    return { repo: this.#repo, branch: BRANCH, message: subject, changes, idempotencyKey: subject }
  }
}

type Fault = (atmosphere: Atmosphere, random: Random) => Promise<void> | void

const RATE_LIMITED = { error: 'RateLimitExceeded', message: 'Too many' }

const FAULTS: Readonly<Record<string, Fault>> = {
  none: () => undefined,
  'answer lost': (atmosphere) => atmosphere.loseNextAnswer(APPLY_WRITES),
  '500 after it has written': (atmosphere) => atmosphere.failNext(APPLY_WRITES, { kind: 'fail-after', status: 500 }),
  '500 before it has': (atmosphere) => atmosphere.failNext(APPLY_WRITES, { kind: 'refuse', status: 500 }),
  429: (atmosphere) => {
    const headers = { 'retry-after': '1' }
    atmosphere.failNext(APPLY_WRITES, { kind: 'refuse', status: 429, headers, body: RATE_LIMITED })
  },
  'down for a while': async (atmosphere, random) => {
    await atmosphere.pause()
    await pause(random.below(LONGEST_PAUSE))
    await atmosphere.resume()
  },
}

/**
 * When the runtime is killed: when the account has a write and the edge has not heard of it yet, while a write is on its
 * way into the account, and at any time. In turn, so that few kills have each of them.
 */
const MOMENTS: readonly ((atmosphere: Atmosphere, random: Random) => Promise<void>)[] = [
  (atmosphere) => nextWrite(atmosphere, ({ status }) => status === 200),
  async (atmosphere, random) => {
    await nextWrite(atmosphere, () => true)
    await pause(random.below(WRITE))
  },
  (_, random) => pause(random.below(LONGEST_DELAY)),
]

/** Waits for an applyWrites that has not come yet. */
async function nextWrite({ requests }: Atmosphere, isSo: (request: PdsRequest) => boolean): Promise<void> {
  const before = requests.length
  while (!requests.slice(before).some((request) => request.path.endsWith(APPLY_WRITES) && isSo(request))) await pause(1)
}

/** Kills the runtime again and again, with a fault of the PDS before it or at the same time. @returns how many of which */
async function disturb(
  { edge, atmosphere }: KillPlace,
  { kills, clients, seed }: KillOptions,
  trial: Trial,
): Promise<Record<string, number>> {
  const random = new Random(seed)
  const counts: Record<string, number> = {}
  for (let kill = 0; kill < kills; kill++) {
    await trial.acknowledgements(1 + random.below(2 * clients))
    const pid = await edge.pid()
    const name = random.pick(Object.keys(FAULTS))
    counts[name] = (counts[name] ?? 0) + 1
    const fault = Promise.resolve(FAULTS[name]!(atmosphere, random))
    await MOMENTS[kill % MOMENTS.length]!(atmosphere, random)
    process.kill(pid, 'SIGKILL')
    await Promise.all([untilAnother(edge, pid), fault])
  }
  // At last undisturbed.
  await trial.acknowledgements(clients)
  return counts
}

/** Waits until workerd has been started again, and answers. @param pid of the one that was ended */
async function untilAnother(edge: Edge, pid: number): Promise<void> {
  for (;;) {
    const isUp = await fetch(`${edge.url}/llms.txt`).then(
      (response) => response.body?.cancel().then(() => true),
      () => false,
    )
    // Between the two it may not be there yet.
    if (isUp && (await edge.pid().catch(() => pid)) !== pid) return
    await pause(10)
  }
}

/** Compares what the clients know with what a clone has. */
async function judge(
  { edge, git }: KillPlace,
  repo: string,
  { strange, contradicted, broken }: Trial,
  commits: readonly Known[],
): Promise<Omit<KillOutcome, 'faults'>> {
  const shown = await cloned(git, `${edge.url}/${repo}`)
  await edge.wipe()
  const kept = await cloned(git, `${edge.url}/${repo}`)
  const present = Map.groupBy(shown.log, ({ subject }) => subject)
  const told = commits.filter(({ commit }) => commit !== null)
  const stored = commits.filter(({ commit, isStored }) => commit === null && isStored)
  const unknown = commits.filter(({ commit, isStored }) => commit === null && !isStored)
  const isThere = ({ subject, commit }: Known) =>
    present.get(subject)?.some(({ oid }) => commit === null || oid === commit) === true
  return {
    handedIn: commits.length,
    acknowledged: told.length,
    stored: stored.length,
    unknown: unknown.length,
    unknownLanded: unknown.filter(isThere).length,
    broken,
    strange,
    contradicted,
    lost: [...told, ...stored].filter((known) => !isThere(known)).map(({ subject }) => subject),
    doubled: [...present].filter(([, found]) => found.length > 1).map(([subject]) => subject),
    disordered: findDisorder(shown.log),
    isInAccount: JSON.stringify(kept.log) === JSON.stringify(shown.log),
    unsound: [shown.fsck, kept.fsck].filter((complaints) => complaints !== ''),
  }
}

interface Clone {
  /** Of the branch. */
  readonly log: readonly LoggedCommit[]
  /** Its complaints; empty: none. */
  readonly fsck: string
}

async function cloned(git: Git, address: string): Promise<Clone> {
  const directory = await mkdtemp(join(tmpdir(), 'skein-kills-'))
  try {
    await git.run(['clone', '--quiet', '--bare', address, directory])
    const { status, stderr, stdout } = await git.try(['fsck', '--strict', '--no-dangling'], { cwd: directory })
    return { log: await readLog(git, directory, BRANCH), fsck: status === 0 ? '' : `${stderr}${stdout}` }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

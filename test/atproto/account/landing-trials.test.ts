import { expect, test } from 'vitest'
import { type Landing, type LandingResult, memoryOf, type RefMove } from '../../../atproto/account/landing.ts'
import { LandingQueue } from '../../../atproto/account/landing-queue.ts'
import type { PdsClient } from '../../../atproto/pds/pds-client.ts'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import type { Write } from '../../../atproto/pds/write.ts'
import { REFS_COLLECTION, REPO_COLLECTION } from '../../../atproto/records/collections.ts'
import { packKey, refsKey } from '../../../atproto/records/record-keys.ts'
import { encodeRefsRecord } from '../../../atproto/records/ref-record.ts'
import { encodeRepoRecord } from '../../../atproto/records/repo-record.ts'
import { TidClock } from '../../../atproto/records/tid.ts'
import { PLAN_LIMITS } from '../../../atproto/refs/plan.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import { RefNames } from '../../../git/refs/ref-conflicts.ts'
import { Random } from '../../git/random.ts'
import { MemoryPds } from '../memory-pds.ts'

/**
 * Writers that know of each other by the account alone, landings at random, and a PDS that fails before it writes, after
 * it, or writes when nobody believes in it any more. Whatever happens, what a writer is told is what has happened.
 */

const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
const NAMES = ['a', 'a/b', 'b', 'c', 'd', 'e'].map((name) => `refs/heads/${name}`)
const MANY = Array.from({ length: 5 }, (_, i) => `refs/tags/t${i}`)

interface Ref {
  readonly target: string | null
  readonly seq: number
}

/** The account, and all that has ever happened to its refs. */
class World {
  readonly pds = new MemoryPds()
  readonly tids = new TidClock()
  readonly repos: string[]
  readonly refs = new Map<string, Ref>()
  /** Who has written each seq of each ref: its pack, or null for a deletion. */
  readonly written = new Map<string, { pack: string | null; target: string | null; before: string | null }>()
  readonly packs = new Set<string>()
  /** What no order of landings explains. */
  readonly faults: string[] = []
  readonly late: (() => void)[] = []
  readonly random: () => number

  constructor(seed: number, repos: number) {
    const random = new Random(seed)
    this.random = () => random.next()
    this.repos = Array.from({ length: repos }, () => this.tids.next())
    for (const repo of this.repos) {
      this.pds.put(REFS_COLLECTION, refsKey(repo, 0, 1), encodeRefsRecord({ entries: [], landing: this.tids.next() }))
      const record = {
        name: repo,
        defaultBranch: 'main',
        objectFormat: 'sha1' as const,
        createdAt: '2026-11-30T12:00:00Z',
      }
      this.pds.put(REPO_COLLECTION, repo, encodeRepoRecord(record))
    }
  }

  async pause(): Promise<void> {
    for (let n = Math.floor(this.random() * 12); n > 0; n--) await null
    if (this.random() < 0.2) await new Promise((resolve) => setImmediate(resolve))
    if (this.late.length > 0 && this.random() < 0.3)
      this.late.splice(Math.floor(this.random() * this.late.length), 1)[0]!()
  }

  get client(): PdsClient {
    const { client } = this.pds
    const faulty = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
      return async (...args: A): Promise<R> => {
        await this.pause()
        if (this.random() < 0.02) throw new PdsUnreachableError('pds.test', 'cannot be read')
        const answer = await call(...args)
        await this.pause()
        return answer
      }
    }
    return { ...client, listRecords: faulty(client.listRecords), getRecord: faulty(client.getRecord) } as PdsClient
  }

  async applyWrites(writes: readonly Write[]): Promise<void> {
    await this.pause()
    const dice = this.random()
    if (dice < 0.08) throw new PdsUnreachableError('pds.test', 'does not answer')
    if (dice < 0.1) throw new PdsError('pds.test', 429, 'RateLimitExceeded', 'slow down', 1)
    if (dice < 0.12) throw new PdsError('pds.test', 413, 'PayloadTooLarge', 'too large', null)
    if (dice < 0.14) throw new PdsError('pds.test', 400, 'InvalidRequest', 'no', null)
    if (dice < 0.24) {
      this.late.push(() => {
        try {
          this.#run(writes)
        } catch {
          // Its keys are taken by now; whoever has sent it hears no more of it.
        }
      })
      throw new PdsUnreachableError('pds.test', 'does not answer')
    }
    this.#run(writes)
    await this.pause()
    if (dice < 0.36) throw new PdsError('pds.test', 500, 'InternalServerError', 'after it was done', null)
  }

  #run(writes: readonly Write[]): void {
    this.pds.applyWrites(writes)
    for (const write of writes) {
      if (write.action === 'delete') continue
      const value = write.value as Record<string, unknown>
      const repo = write.rkey.split(':')[0]!
      if (write.collection.endsWith('.pack')) this.packs.add(write.rkey)
      if (write.collection.endsWith('.ref')) this.#moved(repo, value)
      if (write.collection.endsWith('.refs'))
        for (const entry of value.entries as Record<string, unknown>[]) this.#moved(repo, entry)
    }
    for (const repo of this.repos) {
      const names = new RefNames()
      for (const [key, { target }] of this.refs) {
        const [of, name] = key.split(' ') as [string, string]
        if (of !== repo || target === null) continue
        if (names.conflictWith(name) !== null) this.faults.push(`${name} beside ${names.conflictWith(name)}`)
        names.add(name)
      }
    }
  }

  #moved(repo: string, { name, seq, target = null, pack = null }: Record<string, unknown>): void {
    const key = `${repo} ${name}`
    const before = this.refs.get(key) ?? { target: null, seq: 0 }
    if (seq !== before.seq + 1) this.faults.push(`${key} from ${before.seq} to ${seq}`)
    this.refs.set(key, { seq: seq as number, target: target as string | null })
    this.written.set(`${key} ${seq}`, {
      pack: pack as string | null,
      target: target as string | null,
      before: before.target,
    })
  }
}

/** What a mirror knows: it takes over what lands, and reads the account now and then. */
class View {
  readonly states = new Map<string, RefState>()
  head: number | null = 1
}

let objects = 0

async function trial(seed: number): Promise<{ landed: number; lost: number; failed: number }> {
  const repoCount = 1 + (seed % 3)
  const world = new World(seed, repoCount)
  const { random } = world
  const writers = Array.from({ length: 1 + (seed % 2) }, () => ({
    queue: new LandingQueue({
      client: world.client,
      applyWrites: (writes) => world.applyWrites(writes),
      tids: world.tids,
      sleep: () => world.pause(),
      random,
      limits:
        seed % 5 === 0
          ? { ...PLAN_LIMITS, writes: 8, looseCreations: 2, shardEntries: 2 }
          : { ...PLAN_LIMITS, looseCreations: 3 },
    }),
    views: new Map(world.repos.map((repo) => [repo, new View()])),
  }))
  const count = { landed: 0, lost: 0, failed: 0 }
  const told = new Map<string, string>()
  const work: Promise<void>[] = []
  for (let n = 0; n < 30; n++) {
    const writer = writers[Math.floor(random() * writers.length)]!
    const repo = world.repos[Math.floor(random() * world.repos.length)]!
    const view = writer.views.get(repo)!
    const names = random() < 0.15 ? MANY : NAMES.filter(() => random() < 0.3)
    const shown = new RefNames()
    for (const { name, target } of view.states.values()) if (target !== null) shown.add(name)
    const moves: RefMove[] = []
    for (const name of names) {
      const from = view.states.get(name) ?? null
      const exists = from !== null && from.target !== null
      if (exists && random() < 0.3) moves.push({ name, from, target: null, peeled: null })
      else if (exists || shown.conflictWith(name) === null) {
        moves.push({ name, from, target: (++objects).toString(16).padStart(40, '0'), peeled: null })
        shown.add(name)
      }
    }
    if (moves.length === 0) continue
    const rkey = packKey(repo, world.tids.next())
    const hasPack = moves.some(({ target }) => target !== null) && random() < 0.9
    const record = {
      bytes: new Uint8Array(4),
      size: 4,
      objects: 1,
      checksum: '9'.repeat(40),
      thin: false,
      createdAt: '2026-11-30T12:00:00Z',
    }
    const landing: Landing = {
      ...{ did: DID, pds: 'https://pds.test', repo, create: null, moves, atomic: random() < 0.2, head: view.head },
      pack: hasPack ? { rkey, record } : null,
    }
    expect(memoryOf(landing)).toBeGreaterThan(0)
    work.push(
      writer.queue.land(landing).then((result) => {
        judgeResult(world, landing, result, told, count, seed)
        takeOver(view, result)
      }),
    )
    await world.pause()
    if (random() < 0.3) await Promise.all(work)
  }
  await Promise.all(work)
  expect(world.faults).toEqual([])
  return count
}

function takeOver(view: View, result: LandingResult): void {
  const known = (needs: LandingResult['headNeeds']) =>
    needs.every(({ name, seq }) => (view.states.get(name)?.seq ?? 0) >= seq)
  const isKnown = known(result.headNeeds)
  if (isKnown && (result.head ?? 0) > (view.head ?? 0)) view.head = result.head
  for (const move of result.moves) {
    const state = move.outcome === 'failed' ? null : move.state
    if (state !== null && state.seq > (view.states.get(state.name)?.seq ?? 0)) view.states.set(state.name, state)
  }
}

function judgeResult(
  world: World,
  landing: Landing,
  result: LandingResult,
  told: Map<string, string>,
  count: { landed: number; lost: number; failed: number },
  seed: number,
): void {
  const who = `${seed}/${landing.pack?.rkey ?? landing.moves.map(({ name, target }) => `${name}=${target?.slice(-4)}`).join()}`
  const writtenBy = (move: RefMove) =>
    [...world.written.entries()].filter(([key, { target, pack }]) => {
      return (
        key.startsWith(`${landing.repo} ${move.name} `) &&
        move.target !== null &&
        target === move.target &&
        (pack ?? null) === (landing.pack?.rkey ?? null)
      )
    })
  for (const [i, outcome] of result.moves.entries()) {
    const move = landing.moves[i]!
    count[outcome.outcome]++
    if (outcome.outcome === 'landed') {
      const key = `${landing.repo} ${move.name} ${outcome.state.seq}`
      const written = world.written.get(key)
      if (written === undefined || written.target !== move.target)
        world.faults.push(`${who}: told landed, is not: ${key}`)
      else if (written.before !== (move.from?.target ?? null))
        world.faults.push(`${who}: landed on another value: ${key}`)
      if (told.has(key)) world.faults.push(`${who}: told landed twice: ${key}, ${told.get(key)}`)
      told.set(key, who)
    } else if (!result.failure?.isUncertain && writtenBy(move).length > 0) {
      world.faults.push(
        `${who}: told ${outcome.outcome} (${JSON.stringify(outcome)}), has landed: ${JSON.stringify(writtenBy(move))}`,
      )
    }
    if (writtenBy(move).length > 1) world.faults.push(`${who}: landed more than once`)
  }
  if (
    landing.pack !== null &&
    result.packLanded !== world.packs.has(landing.pack.rkey) &&
    !result.failure?.isUncertain
  ) {
    world.faults.push(`${who}: pack told ${result.packLanded} ${JSON.stringify(result.moves)}`)
  }
}

const TRIALS = 400

test('landings at random are what their writers are told', { timeout: 60_000 }, async () => {
  const all = { landed: 0, lost: 0, failed: 0 }
  for (let seed = 1; seed <= TRIALS; seed++) {
    const count = await trial(seed)
    for (const key of ['landed', 'lost', 'failed'] as const) all[key] += count[key]
  }
  for (const count of Object.values(all)) expect(count).toBeGreaterThan(TRIALS)
})

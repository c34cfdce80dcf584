import { DurableObject } from 'cloudflare:workers'
import { drizzle } from 'drizzle-orm/d1'
import type { RefSeq } from '../../atproto/account/landing.ts'
import { TidClock } from '../../atproto/records/tid.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import type { ManifestRef } from '../../storage/manifest.ts'
import { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { MirrorRegister } from '../../storage/operator/mirror-register.ts'
import { mergedPackId, packKeys } from '../../storage/packs/pack-keys.ts'
import type { RepositoryKey } from '../../storage/repository-key.ts'
import { type Environment, readEvictAfter, readSizeCaps } from '../environment.ts'
import { log, logRoutine } from '../log.ts'
import { createPdsClient } from '../pds-clients.ts'
import { answerManifest } from './answer-manifest.ts'
import type {
  Landed,
  ManifestAnswer,
  ManifestRequest,
  ReadAccountOutcome,
  Refused,
  RepositoryAddress,
  Unavailable,
  WriterView,
} from './answers.ts'
import { doChores, nextChore, retryChores } from './chores.ts'
import { fillMirror, resumePause } from './fill-mirror.ts'
import { Followers } from './followers.ts'
import { type Heard, hear } from './hear.ts'
import { readIngestLimits } from './ingest-limits.ts'
import { deleteAllPacks, deleteLeftovers } from './leftovers.ts'
import { findLostPacks } from './lost-packs.ts'
import { type MergeDeps, mergeMany } from './merge-newest.ts'
import { Oversight } from './oversight.ts'
import { type ReadRange, readAccount } from './read-account.ts'

/** A mirror read longer ago than this is read again behind a reader's back. Milliseconds. */
const RECHECK_AFTER = 30_000
/**
 * A mirror is filled in turns, of which each has a request or an alarm of its own: they have 5 minutes of CPU and 15 of
 * time. What is begun is done after its end. Milliseconds.
 */
const TURN = 2 * 60_000
/** How often R2 is looked through for what no row names: a push that was cut off leaves some. Milliseconds. */
const SWEEP_INTERVAL = 24 * 60 * 60_000

/**
 * The mirror of one repository: its refs, its list of packs, its version. Bytes do not pass through here for readers;
 * they read R2 by the manifest. One object per repository, named `<did>/<rkey>`.
 */
export class Repository extends DurableObject<Environment> {
  readonly #store: MirrorStore
  readonly #oversight: Oversight
  readonly #followers = new Followers()
  #reading: Promise<ReadAccountOutcome> | null = null
  #restoring: Promise<ReadAccountOutcome> | null = null
  #ingesting: Promise<void> | null = null
  /** The last of the pieces of work that hold large tables. */
  #working: Promise<unknown> = Promise.resolve()
  /** When the account was last asked, whether or not it answered. */
  #askedAt = 0
  #choreFailures = 0
  /** It was blocked since the object runs, and nothing of it is to be kept: what is under way must leave nothing. */
  #isBlockedWhole = false
  /** While the mirror is dropped nobody reads it: what they would bring back would go, too. */
  #dropping: Promise<unknown> | null = null
  readonly #tids = new TidClock()

  constructor(context: DurableObjectState, environment: Environment) {
    super(context, environment)
    this.#store = new MirrorStore(context.storage)
    this.#oversight = new Oversight({
      store: this.#store,
      register: new MirrorRegister(drizzle(environment.DB)),
      caps: readSizeCaps(environment),
      evictAfter: readEvictAfter(environment),
      now: () => Date.now(),
      log,
    })
  }

  async manifest(request: ManifestRequest): Promise<ManifestAnswer> {
    this.#store.standing.use(Date.now())
    if (this.#dropping !== null) await this.#dropping
    const refused = await this.#admit(request)
    if (refused !== null) return refused
    const head = this.#store.head()
    if (head === null) {
      const outcome = await this.#read(request)
      if (outcome.state !== 'read') return outcome
    } else if (request.mayRecheck && Date.now() - Math.max(head.checkedAt, this.#askedAt) > RECHECK_AFTER) {
      this.ctx.waitUntil(this.#read(request))
    }
    return answerManifest(this.#store, request, this.#oversight.room())
  }

  /** Null: the repository is served here, as far as is known. */
  async #admit(key: RepositoryKey): Promise<Refused | Unavailable | null> {
    if (this.#oversight.isUnknown) return this.#oversight.ask(key)
    if (this.#oversight.isStale) this.ctx.waitUntil(this.#oversight.ask(key))
    return this.#oversight.refusal()
  }

  /**
   * Hears that the operator has blocked the repository or its account, or has taken that back: from now on, requests here
   * are answered by what D1 says now. What R2 has of what is blocked is deleted, unless it is to be kept.
   */
  async heedOperator(key: RepositoryKey, keepBytes: boolean): Promise<void> {
    const refused = await this.#oversight.askAgain(key)
    const isBlocked = refused?.reason === 'blocked'
    this.#isBlockedWhole = isBlocked && !keepBytes
    if (this.#isBlockedWhole) await this.#clear(key)
    if (isBlocked) return
    await this.#wakeForChores()
    await this.#wakeToFill()
  }

  /** Drops the mirror if nobody has used it for as long as the operator says, or D1's row of it if there is none. */
  async dropIfUnused(key: RepositoryKey): Promise<void> {
    await this.#alone(async () => {
      if (this.#store.head() !== null) await this.#dropUnused(key)
      else if (await this.#oversight.giveUp(key)) this.#store.standing.forget()
    })
  }

  /** The account is gone: so is the mirror. */
  async drop(key: RepositoryKey): Promise<void> {
    await this.#forget(key)
  }

  /** Annotated tags that point in the end at one of these objects; null: at any. */
  annotatedTags(peeled: readonly Oid[] | null): ManifestRef[] {
    return this.#store.shown.annotated(peeled)
  }

  /**
   * Takes over what a stream has said of the repository, if it is mirrored, and has it ready for the next reader.
   *
   * @returns whether it is mirrored
   */
  async hear(address: RepositoryAddress, heard: Heard): Promise<boolean> {
    if ((await this.#admit(address)) !== null) return false
    const { PACKS } = this.env
    const deps = {
      store: this.#store,
      readParked: async (key: string) => (await (await PACKS.get(key))?.bytes()) ?? null,
      keepInlinePack: (id: string, bytes: Uint8Array) => this.#keepInlinePack(address, id, bytes),
    }
    const outcome = await hear(deps, address, heard)
    if (outcome === 'cold' || outcome === 'known') return outcome === 'known'
    // Whoever tells of it tells of others, too, and does not wait for the account's server.
    const ready = outcome === 'unclear' ? this.#read(address) : this.#wakeToFill()
    this.ctx.waitUntil(ready.then(() => this.#fillSoon(address)))
    return true
  }

  async #fillSoon(address: RepositoryAddress): Promise<void> {
    if (this.#store.isComplete()) return
    await this.#ingest(address)
    await this.#wakeForChores()
  }

  /** Reads the account now, for a writer who found that the mirror is behind. */
  async refresh(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    return (await this.#admit(address)) ?? this.#read(address)
  }

  /** A reader has met a pack whose files are not all in R2: R2 is a cache, so what is lost is read again. */
  restore(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    this.#restoring ??= this.#restoreOnce(address).finally(() => {
      this.#restoring = null
    })
    return this.#restoring
  }

  /** Takes in what is wanted, if nobody does yet, and tells how it goes: lines of JSON, see `IngestNews`. */
  ingest(address: RepositoryAddress): ReadableStream<Uint8Array> {
    const news = this.#followers.follow()
    this.ctx.waitUntil(this.#ingest(address).then(() => this.#wakeForChores()))
    return news
  }

  writerView(names: readonly string[]): WriterView {
    return { refs: this.#store.refs(names), head: this.#store.head()?.head ?? null }
  }

  /** Takes over what was just written to the account, so that the writer's next read sees it. */
  land(address: RepositoryAddress, landed: Landed): void {
    const head = this.#store.head()
    const record = landed.record ?? head?.record
    // Forgotten meanwhile: the next reader has the account read.
    if (record === undefined || this.#oversight.refusal() !== null) return
    this.#store.standing.use(Date.now())
    this.#store.setHead({
      ...address,
      record,
      head: (this.#knows(landed.headNeeds) ? landed.head : null) ?? head?.head ?? null,
      checkedAt: head?.checkedAt ?? Date.now(),
    })
    if (landed.pack !== null) this.#store.addPack(landed.pack)
    this.#store.advanceRefs(landed.states, 'sound')
    // A stream may have been faster, and has not looked at what they need.
    this.#store.settleRefs(
      landed.states.flatMap(({ name, target }) => (target ? [{ name, target, isBroken: false }] : [])),
    )
    if (this.#oversight.isUnknown) this.ctx.waitUntil(this.#oversight.ask(address))
    this.ctx.waitUntil(this.#wakeForChores().then(() => this.#wakeToFill()))
  }

  #knows(needs: readonly RefSeq[]): boolean {
    if (needs.length === 0) return true
    const known = new Map(this.#store.refs(needs.map(({ name }) => name)).map(({ state }) => [state.name, state.seq]))
    return needs.every(({ name, seq }) => (known.get(name) ?? 0) >= seq)
  }

  override async alarm(): Promise<void> {
    const head = this.#store.head()
    if (head === null || this.#oversight.refusal() !== null) return
    const due = this.#store.ingestDue()
    // It may go off for chores while an ingest that failed has to wait.
    if (due <= Date.now()) await this.#ingest(head)
    await this.#doChores(head)
    if (due > Date.now() && !this.#store.isComplete()) await this.#wakeAt(due)
  }

  async #doChores(address: RepositoryAddress): Promise<void> {
    try {
      await this.#alone(async () => {
        if (!(await this.#dropUnused(address))) await doChores(this.#mergeDeps(), address, Date.now())
      })
      if (this.#oversight.mustTell()) await this.#oversight.ask(address)
      this.#choreFailures = 0
      await this.#wakeForChores()
    } catch (error) {
      log('chores-failed', { did: address.did, rkey: address.rkey, reason: String(error) })
      await this.#wakeAt(retryChores(++this.#choreFailures, Date.now()))
    }
  }

  #mergeDeps(): MergeDeps {
    const newId = () => mergedPackId(this.#newTid())
    return { store: this.#store, bucket: this.env.PACKS, newId, log, logRoutine }
  }

  /** One that is newer than those of all packs. */
  #newTid(): string {
    return this.#tids.next(this.#store.newestPack() ?? undefined)
  }

  async #wakeForChores(): Promise<void> {
    if (this.#store.head() === null) return
    for (const time of [nextChore(this.#store, Date.now()), this.#oversight.nextDue()]) {
      if (time !== null) await this.#wakeAt(time)
    }
  }

  async #wakeToFill(): Promise<void> {
    if (!this.#store.isComplete()) await this.#wakeAt(Date.now() + resumePause(0)!)
  }

  /** There is one alarm: it goes off at the earliest of the times that were asked for. */
  async #wakeAt(time: number): Promise<void> {
    const { storage } = this.ctx
    const earliest = await storage.getAlarm()
    if (earliest === null || earliest > time) await storage.setAlarm(time)
  }

  /** One reading at a time; those who come meanwhile share it, unless they need all where it lists what is newer. */
  #read(
    address: RepositoryAddress,
    range: ReadRange = 'newer',
    lost?: ReadonlySet<string>,
  ): Promise<ReadAccountOutcome> {
    if (this.#reading !== null && range === 'newer') return this.#reading
    const reading = this.#readAfter(this.#reading, address, range, lost).finally(() => {
      if (this.#reading === reading) this.#reading = null
    })
    this.#reading = reading
    return reading
  }

  async #readAfter(
    before: Promise<unknown> | null,
    address: RepositoryAddress,
    range: ReadRange,
    lost?: ReadonlySet<string>,
  ): Promise<ReadAccountOutcome> {
    await Promise.allSettled([before, this.#dropping])
    this.#askedAt = Date.now()
    const refused = await this.#oversight.ask(address)
    if (refused !== null) return refused
    let room = this.#oversight.room()?.bytes ?? Number.POSITIVE_INFINITY
    const outcome = await readAccount(
      {
        store: this.#store,
        client: createPdsClient(this.env, address.pds),
        keepInlinePack: async (id, bytes) => {
          room -= bytes.length
          // Then nothing of it is taken in: it only has to be known how much there is.
          if (room >= 0) await this.#keepInlinePack(address, id, bytes)
        },
        log,
        now: Date.now,
      },
      address,
      range,
      lost,
    )
    if (outcome.state === 'gone') await this.#forget(address)
    if (this.#isBlockedWhole) {
      await this.#clear(address)
      return this.#oversight.refusal() ?? outcome
    }
    const tooLarge = outcome.state === 'read' ? this.#oversight.judgeSize() : null
    if (tooLarge !== null) {
      log('mirror-refused', { did: address.did, rkey: address.rkey, reason: tooLarge.message })
      await this.#clear(address)
      return tooLarge
    }
    // Whoever had it read may go away without having it filled.
    await this.#wakeToFill()
    await this.#wakeForChores()
    if (this.#store.isSweepDue(Date.now(), SWEEP_INTERVAL)) this.ctx.waitUntil(this.#sweep(address))
    return outcome
  }

  async #keepInlinePack({ did, rkey }: RepositoryAddress, id: string, bytes: Uint8Array): Promise<void> {
    await this.env.PACKS.put(packKeys(did, rkey, id).pack, bytes)
  }

  async #restoreOnce(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    const lost = await findLostPacks(this.env.PACKS, this.#store, address)
    if (lost.size === 0) return { state: 'read' }
    log('packs-lost', { did: address.did, rkey: address.rkey, packs: [...lost] })
    return this.#read(address, 'all', lost)
  }

  async #sweep(address: RepositoryAddress): Promise<void> {
    try {
      await deleteLeftovers(this.env.PACKS, this.#store, address, Date.now())
    } catch (error) {
      // They are looked for again tomorrow.
      log('sweep-failed', { did: address.did, rkey: address.rkey, reason: String(error) })
    }
  }

  #ingest(address: RepositoryAddress): Promise<void> {
    this.#ingesting ??= this.#alone(() => this.#fill(address)).finally(() => {
      this.#ingesting = null
    })
    return this.#ingesting
  }

  /** One at a time: each has an account of memory of its own. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#working.then(work)
    this.#working = done.catch(() => undefined)
    return done
  }

  async #fill(address: RepositoryAddress): Promise<void> {
    // Also what came to be wanted without a reading of the account.
    const refused = this.#oversight.refusal() ?? this.#oversight.judgeSize()
    if (refused !== null) {
      if (refused.reason === 'over-cap') await this.#clear(address)
      this.#followers.tell({ error: refused.message, retryAfterSeconds: null })
      return
    }
    const end = Date.now() + TURN
    const deps = {
      store: this.#store,
      client: createPdsClient(this.env, address.pds),
      bucket: this.env.PACKS,
      limits: readIngestLimits(this.env),
      isTurnOver: () => Date.now() >= end,
      newStem: () => this.#newTid(),
      log,
      logRoutine,
      merge: () => mergeMany(this.#mergeDeps(), address),
      readAll: () => this.#read(address, 'all'),
      restore: () => this.restore(address),
      resumeLater: async (pause: number) => {
        const due = Date.now() + pause
        this.#store.setIngestDue(due)
        await this.#wakeAt(due)
      },
    }
    const last = await fillMirror(deps, address, (progress) => this.#followers.tell({ progress }))
    if (last !== null) this.#followers.tell(last)
  }

  /** The record is gone: so is its mirror. */
  async #forget(address: RepositoryKey): Promise<void> {
    if (this.#store.head() === null) return
    await this.#clear(address)
    this.#store.standing.forget()
    try {
      await this.#oversight.giveUp(address)
    } catch (error) {
      log('operator-unasked', { did: address.did, rkey: address.rkey, reason: String(error) })
    }
  }

  async #clear(key: RepositoryKey): Promise<void> {
    this.#store.clear()
    await this.#deletePacks(key)
  }

  async #deletePacks(key: RepositoryKey): Promise<void> {
    await deleteAllPacks(this.env.PACKS, key)
    // What is being taken in, or merged, may put more into R2 before it finds out.
    this.ctx.waitUntil(this.#alone(() => this.#deleteUnlessBack(key)))
  }

  async #deleteUnlessBack(key: RepositoryKey): Promise<void> {
    if (this.#store.head() !== null) return
    try {
      await deleteAllPacks(this.env.PACKS, key)
    } catch (error) {
      log('sweep-failed', { did: key.did, rkey: key.rkey, reason: String(error) })
    }
  }

  /** To be called alone. @returns whether the mirror was dropped */
  async #dropUnused(key: RepositoryKey): Promise<boolean> {
    if (!this.#oversight.isUnused()) return false
    const dropping = this.#dropNow(key).finally(() => {
      this.#dropping = null
    })
    this.#dropping = Promise.allSettled([dropping])
    return dropping
  }

  async #dropNow({ did, rkey }: RepositoryKey): Promise<boolean> {
    if (!(await this.#oversight.giveUp({ did, rkey }))) return false
    // The files first: if that fails the rows are there, so that it is tried again.
    await deleteAllPacks(this.env.PACKS, { did, rkey })
    this.#store.clear()
    this.#store.standing.forget()
    logRoutine('mirror-dropped', { did, rkey })
    return true
  }
}

import { DurableObject } from 'cloudflare:workers'
import { TidClock } from '../../atproto/records/tid.ts'
import { MirrorStore } from '../../storage/mirror/mirror-store.ts'
import { packKeys, repositoryPrefix } from '../../storage/packs/pack-keys.ts'
import { ObjectGoneError } from '../../storage/packs/r2-range.ts'
import type { Environment } from '../environment.ts'
import { log } from '../log.ts'
import { createPdsClient } from '../pds-clients.ts'
import type { IngestNews, Landed, ManifestAnswer, RepositoryAddress, WriterView } from './answers.ts'
import { ingestWanted, PackMovedError } from './ingest-wanted.ts'
import { mergeNewest } from './merge-newest.ts'
import { packsToMerge } from './merge-policy.ts'
import { type ReadAccountOutcome, readAccount } from './read-account.ts'

/** A mirror read longer ago than this is read again behind a reader's back. Milliseconds. */
const RECHECK_AFTER = 30_000
/** How soon an ingest that nobody follows any more is taken up again. Milliseconds. */
const RESUME_AFTER = 20_000
/** How soon packs are merged after a push: those of a burst are merged at once. Milliseconds. */
const MERGE_AFTER = 1_000
/** How soon chores that went wrong are tried again; doubled with each failure. Milliseconds. */
const FIRST_RETRY = 60_000
const LAST_RETRY = 60 * 60_000
/** How often R2 is looked through for what no row names: a push that was cut off leaves some. Milliseconds. */
const SWEEP_INTERVAL = 24 * 60 * 60_000
/** What is younger than this may belong to a push under way. Milliseconds. */
const LEFTOVER_AFTER = 6 * 60 * 60_000
/** Packs of which all files are deleted in one request: it takes a thousand keys. */
const DELETED_AT_ONCE = 300
/** How often an ingest may find that the account was compacted under it before it gives up. */
const MOVED_LIMIT = 3

/** What a reader has already, and what it is after. */
export interface ManifestRequest extends RepositoryAddress {
  /** The version of the manifest at hand, or null. */
  readonly knownVersion: number | null
}

/**
 * The mirror of one repository: its refs, its list of packs, its version. Bytes do not pass through here for readers;
 * they read R2 by the manifest. One object per repository, named `<did>/<rkey>`.
 */
export class Repository extends DurableObject<Environment> {
  readonly #store: MirrorStore
  #reading: Promise<ReadAccountOutcome> | null = null
  #restoring: Promise<ReadAccountOutcome> | null = null
  #ingesting: Promise<void> | null = null
  #choreFailures = 0
  readonly #tids = new TidClock()
  readonly #followers = new Set<(news: IngestNews) => void>()

  constructor(context: DurableObjectState, environment: Environment) {
    super(context, environment)
    this.#store = new MirrorStore(context.storage)
  }

  async manifest(request: ManifestRequest): Promise<ManifestAnswer> {
    const head = this.#store.head()
    if (head === null) {
      const outcome = await this.#read(request)
      if (outcome.state !== 'read') return outcome
    } else if (Date.now() - head.checkedAt > RECHECK_AFTER) {
      this.ctx.waitUntil(this.#read(request))
    }
    const isComplete = this.#store.isComplete()
    if (isComplete && this.#store.head()!.version === request.knownVersion) return { state: 'unchanged' }
    const manifest = this.#store.manifest()!
    if (isComplete) return { state: 'ready', manifest }
    const wantedBytes = this.#store.packs('wanted').reduce((sum, { size }) => sum + size, 0)
    return { state: 'ingesting', manifest, wantedBytes }
  }

  /** Reads the account now, for a writer who found that the mirror is behind. */
  async refresh(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    return this.#read(address)
  }

  /** A reader has met a pack whose files are not all in R2: R2 is a cache, so what is lost is read again. */
  restore(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    this.#restoring ??= this.#restoreOnce(address).finally(() => {
      this.#restoring = null
    })
    return this.#restoring
  }

  /**
   * Takes in what is wanted, if nobody does yet, and tells how it goes: lines of JSON, see {@link IngestNews}.
   */
  ingest(address: RepositoryAddress): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder()
    let follower: ((news: IngestNews) => void) | null = null
    const stream = new ReadableStream({
      type: 'bytes',
      start: (controller) => {
        follower = (news) => {
          controller.enqueue(encoder.encode(`${JSON.stringify(news)}\n`))
          if ('progress' in news) return
          this.#followers.delete(follower!)
          controller.close()
        }
        this.#followers.add(follower)
      },
      cancel: () => {
        this.#followers.delete(follower!)
      },
    })
    this.ctx.waitUntil(this.#ingest(address))
    return stream
  }

  writerView(names: readonly string[]): WriterView {
    return { states: this.#store.refStates(names), head: this.#store.head()?.head ?? null }
  }

  /** Takes over what was just written to the account, so that the writer's next read sees it. */
  land(address: RepositoryAddress, landed: Landed): void {
    const head = this.#store.head()
    const record = landed.record ?? head?.record
    if (record === undefined) return
    this.#store.setHead({ ...address, record, head: landed.head ?? head?.head ?? null, checkedAt: Date.now() })
    if (landed.pack !== null) this.#store.addPack(landed.pack)
    this.#store.advanceRefs(landed.states, 'sound')
    this.ctx.waitUntil(this.#wakeForChores())
  }

  override async alarm(): Promise<void> {
    const head = this.#store.head()
    if (head === null) return
    if (!this.#store.isComplete()) await this.#ingest(head)
    await this.#doChores(head)
  }

  /** What is done while nobody waits. Each step can be cut off and is begun again. */
  async #doChores(address: RepositoryAddress): Promise<void> {
    try {
      await this.#deleteSuperseded(address)
      await mergeNewest({ store: this.#store, bucket: this.env.PACKS, newId: () => this.#newPackId(), log }, address)
      this.#choreFailures = 0
      await this.#wakeForChores()
    } catch (error) {
      log('chores-failed', { did: address.did, rkey: address.rkey, reason: String(error) })
      await this.#wakeAt(Date.now() + Math.min(FIRST_RETRY * 2 ** this.#choreFailures++, LAST_RETRY))
    }
  }

  /** An id for a pack that is not the account's: of another form than those, and later than all of them. */
  #newPackId(): string {
    return `${this.#tids.next(this.#store.newestPack() ?? undefined)}-merged`
  }

  /** Sees to it that the alarm goes off when there is something to do. */
  async #wakeForChores(): Promise<void> {
    const due = this.#store.nextSuperseded()
    if (packsToMerge(this.#store.readyPacks()).length > 0) await this.#wakeAt(Date.now() + MERGE_AFTER)
    else if (due !== null) await this.#wakeAt(due)
  }

  /** There is one alarm: it goes off at the earliest of the times that were asked for. */
  async #wakeAt(time: number): Promise<void> {
    const earliest = await this.ctx.storage.getAlarm()
    if (earliest === null || earliest > time) await this.ctx.storage.setAlarm(time)
  }

  async #deleteSuperseded({ did, rkey }: RepositoryAddress): Promise<void> {
    const ids = this.#store.supersededBefore(Date.now())
    for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
      const some = ids.slice(at, at + DELETED_AT_ONCE)
      await this.env.PACKS.delete(some.flatMap((id) => Object.values(packKeys(did, rkey, id))))
      this.#store.forgetSuperseded(some)
    }
  }

  /** One reading at a time; those who come meanwhile share it. */
  #read(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    this.#reading ??= this.#readOnce(address).finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #restoreOnce(address: RepositoryAddress): Promise<ReadAccountOutcome> {
    const ready = this.#store.packs('ready')
    const keys = new Set<string>()
    for await (const objects of this.#listObjects(address)) for (const { key } of objects) keys.add(key)
    const lost = ready.filter(({ id }) =>
      Object.values(packKeys(address.did, address.rkey, id)).some((key) => !keys.has(key)),
    )
    if (lost.length === 0) return { state: 'read' }
    log('packs-lost', { ...address, packs: lost.map(({ id }) => id) })
    return this.#readOnce(
      address,
      lost.map(({ id }) => id),
    )
  }

  async #readOnce(address: RepositoryAddress, lost?: readonly string[]): Promise<ReadAccountOutcome> {
    const outcome = await readAccount(
      {
        store: this.#store,
        client: createPdsClient(this.env, address.pds),
        keepInlinePack: async (id, bytes) => {
          await this.env.PACKS.put(packKeys(address.did, address.rkey, id).pack, bytes)
        },
        log,
        now: Date.now,
      },
      address,
      lost,
    )
    if (outcome.state === 'gone') await this.#forget(address)
    if (!this.#store.isComplete()) await this.#wakeAt(Date.now() + RESUME_AFTER)
    if (this.#store.isSweepDue(Date.now(), SWEEP_INTERVAL)) await this.#sweep(address)
    return outcome
  }

  #ingest(address: RepositoryAddress): Promise<void> {
    this.#ingesting ??= this.#ingestAll(address).finally(() => {
      this.#ingesting = null
    })
    return this.#ingesting
  }

  async #ingestAll(address: RepositoryAddress): Promise<void> {
    const deps = { store: this.#store, client: createPdsClient(this.env, address.pds), bucket: this.env.PACKS, log }
    try {
      for (let moved = 0; !this.#store.isComplete(); moved++) {
        try {
          await ingestWanted(deps, address, (progress) => this.#tell({ progress }))
        } catch (error) {
          const hasMoved = error instanceof PackMovedError
          if (!(hasMoved || error instanceof ObjectGoneError) || moved >= MOVED_LIMIT) throw error
          if (hasMoved) this.#store.removePacks(this.#store.packs('wanted').map(({ id }) => id))
          const outcome = await (hasMoved ? this.#read(address) : this.restore(address))
          if (outcome.state !== 'read') throw error
        }
      }
      this.#tell({ done: true })
      await this.#wakeForChores()
    } catch (error) {
      log('ingest-failed', { ...address, reason: String(error) })
      await this.#wakeAt(Date.now() + RESUME_AFTER)
      this.#tell({ error: 'the repository could not be read from its account', retryAfterSeconds: RESUME_AFTER / 1000 })
    }
  }

  #tell(news: IngestNews): void {
    for (const follower of [...this.#followers]) follower(news)
  }

  /** The record is gone: so is its mirror. */
  async #forget(address: RepositoryAddress): Promise<void> {
    if (this.#store.head() === null) return
    this.#store.clear()
    await this.#deleteObjects(address, () => true)
  }

  /** Deletes what pushes that were cut off, and packs that were replaced, have left in R2. */
  async #sweep(address: RepositoryAddress): Promise<void> {
    const prefix = repositoryPrefix(address.did, address.rkey)
    const youngest = Date.now() - LEFTOVER_AFTER
    await this.#deleteObjects(address, ({ key, uploaded }) => {
      const id = key.slice(prefix.length).split('.')[0]!
      return uploaded.getTime() < youngest && !this.#store.needsFiles(id)
    })
  }

  async #deleteObjects(address: RepositoryAddress, isLeftover: (object: R2Object) => boolean): Promise<void> {
    for await (const objects of this.#listObjects(address)) {
      const keys = objects.filter(isLeftover).map(({ key }) => key)
      if (keys.length > 0) await this.env.PACKS.delete(keys)
    }
  }

  /** All that R2 has of the repository, page by page. */
  async *#listObjects({ did, rkey }: RepositoryAddress): AsyncGenerator<readonly R2Object[]> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.env.PACKS.list({ prefix: repositoryPrefix(did, rkey), ...(cursor ? { cursor } : {}) })
      yield page.objects
      if (!page.truncated) return
      cursor = page.cursor
    }
  }
}

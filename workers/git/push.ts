import type { Landing, LandingResult, MoveOutcome, RefMove } from '../../atproto/account/landing.ts'
import { packKey } from '../../atproto/records/record-keys.ts'
import type { PackRecord, RepoRecord } from '../../atproto/records/record-types.ts'
import { TidClock } from '../../atproto/records/tid.ts'
import { log } from '../../durable-objects/log.ts'
import { createPdsClient } from '../../durable-objects/pds-clients.ts'
import { type Oid, ZERO_OID } from '../../git/bytes/oid.ts'
import { type IngestedPack, ingestPack } from '../../git/graph/ingest-pack.ts'
import { PackGraph } from '../../git/graph/pack-graph.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { COMMIT, TAG } from '../../git/object/object-type.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { type CheckedCommand, checkCommands, STALE_REF } from '../../git/protocol/check-commands.ts'
import { expectsPack, type ReceiveRequest } from '../../git/protocol/receive-request.ts'
import type { CommandStatus, ReportStatus } from '../../git/protocol/report-status.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { type PackKeys, packKeys } from '../../storage/packs/pack-keys.ts'
import { HttpError } from '../http/http-error.ts'
import { Mirror, withGraphs } from '../mirror.ts'
import type { RequestContext } from '../request-context.ts'
import { PackIntake } from './pack-intake.ts'
import { counter, type Tell } from './progress.ts'
import type { PushTarget } from './push-target.ts'

/** The edge cuts a request off at 100 MB; this is a little less, so that the pusher is told in words. Bytes. */
const DEFAULT_PUSH_LIMIT = 95_000_000
const MISSING_OBJECTS = 'missing necessary objects'

const tids = new TidClock()

type Accepted = Extract<CheckedCommand, { ok: true }>

/** The repository's objects as they will be once the push has landed. */
interface Objects {
  readonly objects: PackedObjects
  readonly graph: RepositoryGraph
}

/** One push: its commands checked, its pack taken in, landed in the account, and taken over by the mirror. */
export class Push {
  readonly #context: RequestContext
  readonly #target: PushTarget
  readonly #request: ReceiveRequest
  readonly #tell: Tell
  readonly #mirror: Mirror
  readonly #isAtomic: boolean

  constructor(context: RequestContext, target: PushTarget, request: ReceiveRequest, tell: Tell) {
    this.#context = context
    this.#target = target
    this.#request = request
    this.#tell = tell
    this.#mirror = new Mirror(context, target.identity, target.entry?.rkey ?? tids.next())
    this.#isAtomic = request.capabilities.has('atomic')
  }

  /** @param pack the rest of the request. */
  async run(pack: AsyncIterable<Uint8Array>): Promise<ReportStatus> {
    const manifest = this.#target.entry === null ? null : await this.#mirror.completeManifest(this.#tell)
    const { checked, current } = await this.#check(manifest)
    if (!checked.some((command) => command.ok)) {
      await drain(pack)
      return { unpackError: null, commands: checked.map((command) => refused(command)) }
    }
    const taken = expectsPack(this.#request) ? await this.#takePack(pack, current) : null
    if (taken !== null && 'unpackError' in taken) {
      return { unpackError: taken.unpackError, commands: checked.map((command) => refused(command, 'unpacker error')) }
    }
    return this.#landChecked(checked, current, taken)
  }

  /** Judges the commands by the mirror; where it says that somebody was faster, by the account itself. */
  async #check(manifest: Manifest | null): Promise<{ checked: CheckedCommand[]; current: Manifest | null }> {
    const check = (by: Manifest | null) =>
      checkCommands(this.#request.commands, new Map(by?.refs.map(({ name, target }) => [name, target])), {
        atomic: this.#isAtomic,
      })
    const checked = check(manifest)
    if (manifest === null || !checked.some((command) => !command.ok && command.reason === STALE_REF)) {
      return { checked, current: manifest }
    }
    const outcome = await this.#mirror.stub.refresh(this.#mirror.address)
    if (outcome.state !== 'read') return { checked, current: manifest }
    const current = await this.#mirror.completeManifest(this.#tell)
    return { checked: check(current), current }
  }

  async #takePack(chunks: AsyncIterable<Uint8Array>, manifest: Manifest | null) {
    const { PACKS, MAX_PUSH_BYTES } = this.#context.environment
    const { did, rkey, pds } = this.#mirror.address
    const id = tids.next(manifest?.packs.at(-1)?.id)
    const keys = packKeys(did, rkey, id)
    const client = createPdsClient(this.#context.environment, pds, did)
    const intake = new PackIntake({
      bucket: PACKS,
      key: keys.pack,
      client,
      limit: MAX_PUSH_BYTES === undefined ? DEFAULT_PUSH_LIMIT : Number(MAX_PUSH_BYTES),
      blobLimit: async () => (await client.describeServer()).blobUploadLimit,
      token: async (refused) => {
        const address = { did, pds, ...(refused === undefined ? {} : { refused }) }
        const answer = await this.#context.accountWriter(did).accessToken(address)
        if (answer.ok) return answer.token
        const headers = answer.retryAfterSeconds === null ? {} : { 'Retry-After': `${answer.retryAfterSeconds}` }
        throw new HttpError(503, 'UpstreamUnavailable', answer.message, headers)
      },
    })
    const known = manifest === null ? [] : await withGraphs(await this.#mirror.packs(manifest))
    const resolving = counter('Resolving deltas', this.#tell)
    try {
      const ingested = await ingestPack({
        chunks: intake.take(chunks),
        reopen: () => intake.complete(),
        known: known.length === 0 ? null : { objects: new PackedObjects(known), graph: RepositoryGraph.of(known) },
        strict: true,
        onProgress: (phase, done, total) => {
          if (phase === 'resolving' && total > 0) resolving(done, total)
        },
      })
      return new TakenPack(PACKS, id, keys, intake, ingested, known)
    } catch (error) {
      await intake.abort(error)
      if (error instanceof PackError) return { unpackError: error.message }
      throw error
    }
  }

  async #landChecked(
    checked: readonly CheckedCommand[],
    manifest: Manifest | null,
    taken: TakenPack | null,
  ): Promise<ReportStatus> {
    const objects = taken?.objects() ?? (await this.#knownObjects(manifest))
    const judged = await Promise.all(checked.map((command) => this.#judgeTip(command, objects, taken)))
    const accepted = judged.filter((command): command is Accepted => command.ok)
    const isRefused = accepted.length === 0 || (this.#isAtomic && accepted.length < judged.length)
    if (isRefused) {
      await taken?.discard()
      return { unpackError: null, commands: judged.map((command) => refused(command, 'atomic push failed')) }
    }
    const landing = await this.#prepare(accepted, objects, taken)
    const result = await this.#land(landing, taken)
    const outcomes = new Map(result.moves.map((move) => [move.name, move]))
    return { unpackError: null, commands: judged.map((command) => status(command, outcomes)) }
  }

  async #knownObjects(manifest: Manifest | null): Promise<Objects> {
    const packs = manifest === null ? [] : await withGraphs(await this.#mirror.packs(manifest))
    return { objects: new PackedObjects(packs), graph: RepositoryGraph.of(packs) }
  }

  /** Whether what a ref is to point at is there, whole, and of a type that the ref may have. */
  async #judgeTip(command: CheckedCommand, { objects }: Objects, taken: TakenPack | null): Promise<CheckedCommand> {
    if (!command.ok || command.new === ZERO_OID) return command
    const refuse = (reason: string): CheckedCommand => ({ ok: false, name: command.name, reason })
    if (taken !== null && taken.ingested.missing.length > 0) {
      return refuse(this.#request.shallow.length > 0 ? 'shallow update not allowed' : MISSING_OBJECTS)
    }
    const found = await objects.stat(command.new)
    if (found === null) return refuse(MISSING_OBJECTS)
    if (found.type !== COMMIT && command.name.startsWith('refs/heads/'))
      return refuse('a branch must point at a commit')
    return command
  }

  /** What is to be written. Where that cannot be told, nothing of the push stays. */
  async #prepare(accepted: readonly Accepted[], objects: Objects, taken: TakenPack | null): Promise<Landing> {
    try {
      return await this.#landingOf(accepted, objects, taken)
    } catch (error) {
      await taken?.discard()
      throw error
    }
  }

  async #landingOf(accepted: readonly Accepted[], objects: Objects, taken: TakenPack | null): Promise<Landing> {
    const { address } = this.#mirror
    const pack = packToLand(taken)
    const view =
      this.#target.entry === null
        ? { states: [], head: null }
        : await this.#mirror.stub.writerView(accepted.map(({ name }) => name))
    const states = new Map(view.states.map((state) => [state.name, state]))
    const moves = accepted
      // Deleting what is not there is done already.
      .filter((command) => command.new !== ZERO_OID || states.get(command.name)?.target != null)
      .map((command): RefMove => {
        const target = command.new === ZERO_OID ? null : command.new
        const from = states.get(command.name) ?? null
        return { name: command.name, from, target, peeled: target === null ? null : peel(target, objects) }
      })
    const create = this.#target.entry === null ? this.#newRecord(accepted) : null
    return {
      did: address.did,
      pds: address.pds,
      repo: address.rkey,
      create,
      pack: pack === null ? null : { rkey: packKey(address.rkey, pack.id), record: await pack.record() },
      moves,
      atomic: this.#isAtomic,
      head: view.head,
    }
  }

  /**
   * Writes to the account, and puts the pack's files beside it into R2. What the account has counts: should the mirror
   * fail to take it over, it reads it from there, and the push has landed all the same.
   */
  async #land(landing: Landing, taken: TakenPack | null): Promise<LandingResult> {
    const pack = packToLand(taken)
    const files = pack === null ? Promise.resolve() : pack.putFiles()
    const [result] = await Promise.all([this.#write(landing), files.catch(() => undefined)])
    try {
      await files
      await this.#takeOver(landing, result, pack)
      if (!result.packLanded) await taken?.discard()
    } catch (error) {
      // Nothing is deleted here: a row may name it by now. What no row names is swept away later.
      log('take-over-failed', { ...this.#mirror.address, reason: String(error) })
      this.#context.waitUntil(this.#mirror.stub.refresh(this.#mirror.address))
    }
    return result
  }

  async #write(landing: Landing): Promise<LandingResult> {
    try {
      const answer = await this.#context.accountWriter(landing.did).land(landing)
      return answer.ok ? answer.result : failedLanding(landing, answer.message, answer.retryAfterSeconds)
    } catch (error) {
      // The object was cut short, perhaps after it had written.
      log('landing-cut-short', { ...this.#mirror.address, reason: String(error) })
      this.#context.waitUntil(this.#mirror.stub.refresh(this.#mirror.address))
      return failedLanding(landing, 'the server failed; whether the push has arrived is not known, fetch to see', null)
    }
  }

  /** The mirror takes over what landed, in this request: the pusher's next fetch sees it. */
  async #takeOver(landing: Landing, result: LandingResult, pack: TakenPack | null): Promise<void> {
    const isCreated = landing.create !== null && result.repository === 'created'
    if (landing.create !== null && !isCreated) return
    const states = result.moves.flatMap((move) => (move.outcome !== 'failed' && move.state ? [move.state] : []))
    await this.#mirror.stub.land(this.#mirror.address, {
      record: landing.create,
      pack: pack !== null && result.packLanded ? pack.manifestPack() : null,
      states,
      head: result.head,
    })
    if (result.isStale) this.#context.waitUntil(this.#mirror.stub.refresh(this.#mirror.address))
    if (!isCreated) return
    const { did, rkey } = this.#mirror.address
    await this.#context.noteRepository(did, { rkey, record: landing.create! })
    this.#tell(`Created at://${did}/dev.skein.repo/${rkey}\n`)
  }

  #newRecord(accepted: readonly Accepted[]): RepoRecord {
    const branches = accepted.flatMap(({ name }) =>
      name.startsWith('refs/heads/') ? [name.slice('refs/heads/'.length)] : [],
    )
    const defaultBranch = ['main', 'master'].find((name) => branches.includes(name)) ?? branches[0] ?? 'main'
    return { name: this.#target.name, defaultBranch, objectFormat: 'sha1', createdAt: new Date().toISOString() }
  }
}

/** Null also for an empty pack, which no ref needs. */
function packToLand(taken: TakenPack | null): TakenPack | null {
  return taken !== null && taken.ingested.objects > 0 ? taken : null
}

function failedLanding(landing: Landing, message: string, retryAfterSeconds: number | null): LandingResult {
  return {
    moves: landing.moves.map(({ name }) => ({ name, outcome: 'failed', message, retryAfterSeconds })),
    packLanded: false,
    repository: 'unchanged',
    failure: { message, retryAfterSeconds },
    head: landing.head,
    isStale: false,
  }
}

/** A pack that has been taken in and that no row and no record names yet. */
class TakenPack {
  readonly id: string
  readonly ingested: IngestedPack
  readonly #bucket: R2Bucket
  readonly #keys: PackKeys
  readonly #intake: PackIntake
  readonly #known: Awaited<ReturnType<typeof withGraphs>>

  constructor(
    bucket: R2Bucket,
    id: string,
    keys: PackKeys,
    intake: PackIntake,
    ingested: IngestedPack,
    known: Awaited<ReturnType<typeof withGraphs>>,
  ) {
    this.id = id
    this.ingested = ingested
    this.#bucket = bucket
    this.#keys = keys
    this.#intake = intake
    this.#known = known
  }

  /** With it, the repository's objects. */
  objects(): Objects {
    const { index, graph } = this.ingested
    // Its bytes are not read any more: types and links are in its index and graph.
    const handle = { index: new PackIndex(index), graph: new PackGraph(graph), data: NO_BYTES }
    const packs = [...this.#known, handle]
    return { objects: new PackedObjects(packs), graph: RepositoryGraph.of(packs) }
  }

  async record(): Promise<PackRecord> {
    const { size, objects, checksum, thin } = this.ingested
    return { ...(await this.#intake.stored()), size, objects, checksum, thin, createdAt: new Date().toISOString() }
  }

  async putFiles(): Promise<void> {
    await Promise.all([
      this.#bucket.put(this.#keys.index, this.ingested.index),
      this.#bucket.put(this.#keys.graph, this.ingested.graph),
    ])
  }

  manifestPack() {
    return { id: this.id, size: this.ingested.size, objects: this.ingested.objects }
  }

  /** Leaves nothing in R2. */
  async discard(): Promise<void> {
    await this.#bucket.delete([this.#keys.pack, this.#keys.index, this.#keys.graph])
  }
}

const NO_BYTES = {
  size: 0,
  read: () => Promise.reject(new RangeError('the pack is not open')),
  stream: () => {
    throw new RangeError('the pack is not open')
  },
}

/** Tags of tags deeper than this are left unpeeled. */
const PEEL_LIMIT = 100

/** What a tag object points at in the end, or null for anything else. */
function peel(oid: Oid, { graph }: Objects): Oid | null {
  let target = graph.tagTarget(oid)
  for (let depth = 0; target?.type === TAG && depth < PEEL_LIMIT; depth++) target = graph.tagTarget(target.oid)
  return target?.oid ?? null
}

function refused(command: CheckedCommand, otherwise = 'not tried'): CommandStatus {
  return { ok: false, name: command.name, reason: command.ok ? otherwise : command.reason }
}

function status(command: CheckedCommand, outcomes: ReadonlyMap<string, MoveOutcome>): CommandStatus {
  if (!command.ok) return refused(command)
  const move = outcomes.get(command.name)
  if (move === undefined || move.outcome === 'landed') return { ok: true, name: command.name }
  if (move.outcome === 'lost') return { ok: false, name: command.name, reason: STALE_REF }
  const when = move.retryAfterSeconds === null ? '' : ` (try again in ${move.retryAfterSeconds} s)`
  return { ok: false, name: command.name, reason: `${move.message}${when}` }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

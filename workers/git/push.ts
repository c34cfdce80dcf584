import type { Landing, RefMove } from '../../atproto/account/landing.ts'
import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import { landInAccount } from '../../durable-objects/landing/land-in-account.ts'
import { newPack } from '../../durable-objects/landing/new-pack.ts'
import { type TakenPack, takePack } from '../../durable-objects/landing/taken-pack.ts'
import type { Tell } from '../../durable-objects/landing/tell.ts'
import { logRoutine } from '../../durable-objects/log.ts'
import type { Mirror } from '../../durable-objects/repository/mirror.ts'
import { tids } from '../../durable-objects/tids.ts'
import { ZERO_OID } from '../../git/bytes/oid.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { COMMIT } from '../../git/object/object-type.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { ATOMIC_FAILURE, type CheckedCommand, checkCommands, STALE_REF } from '../../git/protocol/check-commands.ts'
import { expectsPack, type ReceiveRequest } from '../../git/protocol/receive-request.ts'
import type { ReportStatus } from '../../git/protocol/report-status.ts'
import { withConflicts } from '../../git/refs/ref-conflicts.ts'
import { ALL_REFS } from '../../git/refs/ref-selection.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { withGraphs } from '../../storage/packs/open-packs.ts'
import type { RequestContext } from '../request-context.ts'
import { auditPush } from './push-audit.ts'
import { refuseAll, reportLanding } from './push-report.ts'
import { refuseForced, refuseMove } from './push-rights.ts'
import type { PushTarget } from './push-target.ts'
import { planMoves } from './ref-moves.ts'

const decoder = new TextDecoder()
/** Who moves more refs than this asks for all: their names would be as long. */
const MANY_REFS = 300
const MISSING_OBJECTS = 'missing necessary objects'

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
    this.#mirror = context.mirror(target.identity, target.entry?.rkey ?? tids.next(), 'writer')
    this.#isAtomic = request.capabilities.has('atomic')
  }

  /**
   * @param chunks the rest of the request: the pack
   * @throws only what happens before anything is written; from then on, it is in the report
   */
  async run(chunks: AsyncIterable<Uint8Array>): Promise<ReportStatus> {
    try {
      return await this.#run(chunks)
    } finally {
      const { did, rkey } = this.#mirror.address
      logRoutine('pushed', { did, rkey, ...this.#mirror.cost })
    }
  }

  async #run(chunks: AsyncIterable<Uint8Array>): Promise<ReportStatus> {
    const { checked, manifest } = await this.#check()
    if (!checked.some((command) => command.ok)) return refuseAll(checked, 'not tried')
    const known = manifest === null ? [] : await withGraphs(await this.#mirror.packs(manifest))
    if (!expectsPack(this.#request)) return this.#land(checked, known, null)
    try {
      return await this.#land(checked, known, await this.#takePack(chunks, manifest, known))
    } catch (error) {
      if (error instanceof PackError) return refuseAll(checked, 'unpacker error', error.message)
      throw error
    }
  }

  /** Judges the commands by the mirror; where it says that somebody was faster, by the account itself. */
  async #check(): Promise<{ checked: CheckedCommand[]; manifest: Manifest | null }> {
    if (this.#target.entry === null) return { checked: this.#checkBy(null), manifest: null }
    const { commands } = this.#request
    const names = () => commands.map(({ name }) => decoder.decode(name))
    const asked = commands.length > MANY_REFS ? ALL_REFS : withConflicts(names())
    const manifest = await this.#mirror.completeManifest(asked, this.#tell)
    const checked = this.#checkBy(manifest)
    if (!checked.some((command) => !command.ok && command.reason === STALE_REF)) return { checked, manifest }
    const outcome = await this.#mirror.refresh()
    if (outcome.state !== 'read') return { checked, manifest }
    const current = await this.#mirror.completeManifest(asked, this.#tell)
    return { checked: this.#checkBy(current), manifest: current }
  }

  /** Of a repository that exists. */
  get #rkey(): string | null {
    return this.#target.entry?.rkey ?? null
  }

  #checkBy(manifest: Manifest | null): CheckedCommand[] {
    const refs = new Map(manifest?.refs.map(({ name, target }) => [name, target]))
    const { caller } = this.#target
    return checkCommands(this.#request.commands, refs, {
      atomic: this.#isAtomic,
      refuse: (move) => refuseMove(caller, this.#rkey, move),
    })
  }

  async #takePack(
    chunks: AsyncIterable<Uint8Array>,
    manifest: Manifest | null,
    known: readonly PackHandle[],
  ): Promise<TakenPack> {
    const newest = manifest?.packs.at(-1)?.id ?? null
    const room = manifest === null ? await this.#context.roomForNew(this.#target.identity.did) : this.#mirror.room
    const { environment } = this.#context
    return takePack(chunks, newPack(environment, this.#mirror, { known, newest, room, tell: this.#tell }))
  }

  /** Whatever goes wrong before the account has been written to leaves nothing in R2. */
  async #land(
    checked: readonly CheckedCommand[],
    known: readonly PackHandle[],
    taken: TakenPack | null,
  ): Promise<ReportStatus> {
    let landing: Landing
    let commands: readonly CheckedCommand[]
    // An empty pack is no record: git sends one where all objects are here already.
    const pack = taken !== null && taken.ingested.objects > 0 ? taken : null
    try {
      const graph = taken?.graph() ?? RepositoryGraph.of(known)
      const tips = checked.map((command) => this.#judgeTip(command, graph, taken))
      const view = await this.#writerView(tips)
      const planned = planMoves(tips, view.refs, graph, this.#request.pushOptions)
      commands = planned.commands
      if (this.#isRefused(commands)) {
        await taken?.discard()
        return refuseAll(commands, ATOMIC_FAILURE)
      }
      landing = await this.#prepare(commands, planned.moves, pack, view.head)
    } catch (error) {
      await taken?.discard()
      throw error
    }
    const result = await landInAccount(this.#context.landingDeps(this.#mirror), landing, pack)
    if (pack === null) await taken?.discard()
    if (result.repository === 'created') this.#tell(`Created at://${landing.did}/${REPO_COLLECTION}/${landing.repo}\n`)
    await auditPush(this.#context, this.#target.caller, landing, result)
    return reportLanding(commands, result)
  }

  /** Whether what a ref is to point at is there, whole, and of a type that the ref may have. */
  #judgeTip(command: CheckedCommand, graph: RepositoryGraph, taken: TakenPack | null): CheckedCommand {
    if (!command.ok || command.new === ZERO_OID) return command
    const refuse = (reason: string): CheckedCommand => ({ ok: false, name: command.name, reason })
    if (taken !== null && taken.ingested.missing.length > 0) {
      return refuse(this.#request.shallow.length > 0 ? 'shallow update not allowed' : MISSING_OBJECTS)
    }
    const type = graph.typeOf(command.new)
    if (type === null) return refuse(MISSING_OBJECTS)
    if (type !== COMMIT && command.name.startsWith('refs/heads/')) return refuse('a branch must point at a commit')
    const forced = refuseForced(this.#target.caller, this.#rkey, command, graph)
    return forced === null ? command : refuse(forced)
  }

  async #writerView(commands: readonly CheckedCommand[]) {
    if (this.#target.entry === null) return { refs: [], head: null }
    return this.#mirror.writerView(commands.map(({ name }) => name))
  }

  #isRefused(commands: readonly CheckedCommand[]): boolean {
    const accepted = commands.filter((command) => command.ok).length
    return accepted === 0 || (this.#isAtomic && accepted < commands.length)
  }

  async #prepare(
    commands: readonly CheckedCommand[],
    moves: readonly RefMove[],
    pack: TakenPack | null,
    head: number | null,
  ): Promise<Landing> {
    const { did, rkey, pds } = this.#mirror.address
    return {
      did,
      pds,
      repo: rkey,
      create: this.#target.entry === null ? this.#newRecord(commands) : null,
      pack: pack === null ? null : await pack.toLand(),
      moves,
      atomic: this.#isAtomic,
      head,
    }
  }

  #newRecord(commands: readonly CheckedCommand[]): RepoRecord {
    const branches = commands.flatMap(({ ok, name }) =>
      ok && name.startsWith('refs/heads/') ? [name.slice('refs/heads/'.length)] : [],
    )
    const defaultBranch = ['main', 'master'].find((name) => branches.includes(name)) ?? branches[0] ?? 'main'
    return { name: this.#target.name, defaultBranch, objectFormat: 'sha1', createdAt: new Date().toISOString() }
  }
}

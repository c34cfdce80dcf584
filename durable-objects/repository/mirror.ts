import { MemoryAccount } from '../../git/bytes/memory-account.ts'
import type { Oid } from '../../git/bytes/oid.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { NO_REFS, type RefSelection } from '../../git/refs/ref-selection.ts'
import { type Manifest, type ManifestBase, type ManifestRef, withDefaultBranch } from '../../storage/manifest.ts'
import { type KeptManifest, ManifestCache } from '../../storage/manifest-cache.ts'
import { type OpenPack, openPacks, withGraphs } from '../../storage/packs/open-packs.ts'
import { CountedReader } from '../../storage/packs/pack-reader.ts'
import { ObjectGoneError } from '../../storage/packs/r2-range.ts'
import { RefList } from '../../storage/ref-list.ts'
import type { RepositoryView } from '../../storage/repository-view.ts'
import type { Environment } from '../environment.ts'
import type { Room } from '../size-caps.ts'
import { repositoryOf } from '../stubs.ts'
import type { IngestNews, Landed, ManifestNews, ReadAccountOutcome, RepositoryAddress, WriterView } from './answers.ts'
import {
  MirrorRefusedError,
  MirrorUnavailableError,
  RepositoryGoneError,
  StillMirroringError,
} from './mirror-errors.ts'
import type { Repository } from './repository.ts'

/** Packs of so many bytes in all are taken in before refs are listed: it takes about a second. */
const WAIT_BYTES = 8 * 1024 * 1024
const kept = new ManifestCache()

/** Readers have the account looked at when the mirror is old; a writer learns by its write whether it was. */
export type MirrorRole = 'reader' | 'writer'

export interface RequestCost {
  /** Packs of the manifest that it went by. */
  readonly packs: number
  /** Refs that the `Repository` object has sent for it, changed ones and tags counted too. */
  readonly refsSent: number
  /** Calls of the `Repository` object. */
  readonly calls: number
  /** Requests to R2 to read packs. */
  readonly r2Reads: number
  /** The most that it held in buffers, in bytes. */
  readonly peakBytes: number
}

interface Look {
  readonly manifest: Manifest
  /** Of packs that are still to be taken in; null: all are there. */
  readonly wantedBytes: number | null
}

export interface MirrorDeps {
  readonly environment: Pick<Environment, 'PACKS' | 'REPOSITORY'>
  /** Lets work go on for which nobody waits. */
  waitUntil(work: Promise<unknown>): void
}

/** The account that a repository is in. */
export interface MirroredAccount {
  readonly did: string
  /** Origin of its PDS. */
  readonly pds: string
  readonly handle?: string | null
}

/** How one request, or one turn of an object, reaches the mirror of one repository. */
export class Mirror {
  readonly address: RepositoryAddress
  /** Of the buffers that the request holds. */
  readonly memory = new MemoryAccount()
  readonly #deps: MirrorDeps
  readonly #object: DurableObjectStub<Repository>
  readonly #reader: CountedReader
  #packsOpened = 0
  #refsSent = 0
  #calls = 0
  readonly #actor: string
  readonly #role: MirrorRole
  #isRestoring = false
  #version: number | null = null
  #room: Room | null = null
  /** A look at the mirror that nobody has gone by yet. */
  #lastLook: { readonly selection: RefSelection; readonly look: Promise<Look> } | null = null

  constructor(
    deps: MirrorDeps,
    { did, pds, handle }: MirroredAccount,
    rkey: string /* of `dev.skein.repo` */,
    role: MirrorRole = 'reader',
  ) {
    this.#deps = deps
    this.#object = repositoryOf(deps.environment, did, rkey)
    this.#reader = new CountedReader(deps.environment.PACKS)
    this.#role = role
    this.#actor = handle ?? did
    this.address = { did, rkey, pds }
  }

  /**
   * The manifest for a list of refs, with those that are asked for. Where all that is to be taken in is small, that comes
   * first: only then is it known which refs lead nowhere. Otherwise refs are listed as the account has them, and whoever
   * fetches sees the progress.
   *
   * @throws {@link RepositoryGoneError} if the account does not have the repository any more
   * @throws {@link MirrorUnavailableError} if nothing is mirrored and the account cannot be asked
   * @throws {@link MirrorRefusedError} if the operator does not have it served
   */
  async refsManifest(selection: RefSelection): Promise<Manifest> {
    const { manifest, wantedBytes } = await this.#ask(selection)
    return wantedBytes === null || wantedBytes > WAIT_BYTES ? manifest : this.completeManifest(selection)
  }

  /**
   * The manifest if nothing is to be taken in, else null, and null too where that cannot be found out: whoever asks for
   * the complete manifest with the same refs next is answered by the same look at the mirror.
   */
  async presentManifest(selection: RefSelection): Promise<Manifest | null> {
    const look = this.#ask(selection)
    this.#lastLook = { selection, look }
    try {
      const { manifest, wantedBytes } = await look
      return wantedBytes === null ? manifest : null
    } catch {
      return null
    }
  }

  /** Makes sure that something is known of the repository. @throws as `refsManifest` */
  async requireKnown(): Promise<void> {
    await this.#ask(NO_REFS)
  }

  /**
   * The manifest once all packs are there, with the refs that are asked for.
   *
   * @throws as `refsManifest`, and {@link StillMirroringError}
   */
  async completeManifest(
    selection: RefSelection,
    onProgress: (line: string) => void = () => undefined,
  ): Promise<Manifest> {
    const manifest = await this.#completed(selection, onProgress)
    try {
      await this.packs(manifest)
      return manifest
    } catch (error) {
      if (!(error instanceof ObjectGoneError)) throw error
    }
    const outcome = await this.#stub.restore(this.address)
    if (outcome.state !== 'read') throw notReadable(outcome)
    return this.#completed(selection, onProgress)
  }

  async #completed(selection: RefSelection, onProgress: (line: string) => void): Promise<Manifest> {
    const last = this.#lastLook
    this.#lastLook = null
    const first = await (last?.selection === selection ? last.look : this.#ask(selection))
    if (first.wantedBytes === null) return first.manifest
    await this.#followIngest(onProgress)
    const second = await this.#ask(selection)
    if (second.wantedBytes === null) return second.manifest
    throw new StillMirroringError()
  }

  async #ask(selection: RefSelection): Promise<Look> {
    const known = kept.get(this.address.did, this.address.rkey)
    const answer = await this.#stub.manifest({
      ...this.address,
      known: known && { version: known.base.version, hasRefs: known.refs !== null },
      selection,
      mayRecheck: this.#role === 'reader',
    })
    if (answer.state !== 'found') throw notReadable(answer)
    const manifest = this.#takeOver(known, answer.news, selection)
    this.#version = manifest.version
    this.#room = answer.room
    return { manifest, wantedBytes: answer.wantedBytes }
  }

  /** Keeps what is news, and picks out what was asked for. */
  #takeOver(known: KeptManifest | null, news: ManifestNews, selection: RefSelection): Manifest {
    switch (news.kind) {
      case 'unchanged':
        return manifestOf(known!, selection)
      case 'selected':
        this.#refsSent += news.refs.length
        kept.keep({ base: news.base, refs: null })
        return { ...news.base, refs: news.refs }
      case 'all':
        this.#refsSent += news.refs.length
        return this.#keep({ base: news.base, refs: RefList.of(news.refs) }, selection)
      case 'changed':
        this.#refsSent += news.changes.length
        return this.#keep({ base: news.base, refs: known!.refs!.after(news.changes) }, selection)
    }
  }

  #keep(manifest: KeptManifest, selection: RefSelection): Manifest {
    kept.keep(manifest)
    return manifestOf(manifest, selection)
  }

  /** Annotated tags that point in the end at one of these objects; null: at any. Others may be among them. */
  async annotatedTags(
    { did, rkey, version }: ManifestBase,
    peeled: readonly Oid[] | null,
  ): Promise<readonly ManifestRef[]> {
    const known = kept.get(did, rkey)
    if (known?.base.version === version && known.refs !== null) return known.refs.annotated()
    const tags = await this.#stub.annotatedTags(peeled)
    this.#refsSent += tags.length
    return tags
  }

  async #followIngest(onProgress: (line: string) => void): Promise<void> {
    const news = await this.#stub.ingest(this.address)
    for await (const line of lines(news)) {
      const item = JSON.parse(line) as IngestNews
      if ('progress' in item) onProgress(item.progress)
      if ('error' in item) throw new MirrorUnavailableError(item.error, item.retryAfterSeconds)
    }
  }

  /** The repository's objects, by a manifest that has all refs. */
  async view(manifest: Manifest): Promise<RepositoryView> {
    const packs = await this.packs(manifest)
    let graph: Promise<RepositoryGraph> | null = null
    return {
      manifest,
      actor: this.#actor,
      objects: new PackedObjects(packs),
      graph: () => {
        graph ??= withGraphs(packs).then((handles) => RepositoryGraph.of(handles))
        return graph
      },
    }
  }

  async packs(manifest: ManifestBase): Promise<OpenPack[]> {
    this.#packsOpened = manifest.packs.length
    const { did, rkey } = manifest
    const packs = await openPacks(this.#reader, did, rkey, manifest.packs, () => this.#restoreSoon())
    for (const { data } of packs) this.memory.enter(data)
    return packs
  }

  /** What a writer needs to know of the refs it wants to move, as the mirror has them now. */
  async writerView(names: readonly string[]): Promise<WriterView> {
    return this.#stub.writerView(names)
  }

  /** Has the account read now: what others have written there is in the mirror after it. */
  async refresh(): Promise<ReadAccountOutcome> {
    return this.#stub.refresh(this.address)
  }

  /** Takes over what was just written to the account. */
  async land(landed: Landed): Promise<void> {
    await this.#stub.land(this.address, landed)
  }

  /** Of the manifest that the request last asked for; null before that. */
  get version(): number | null {
    return this.#version
  }

  /** What may be added to the repository, as it was last asked for; null: there is no cap, or it was not asked for. */
  get room(): Room | null {
    return this.#room
  }

  /** What the request has cost so far. */
  get cost(): RequestCost {
    return {
      packs: this.#packsOpened,
      refsSent: this.#refsSent,
      calls: this.#calls,
      r2Reads: this.#reader.reads,
      peakBytes: this.memory.peak,
    }
  }

  /** The object, to be called once. */
  get #stub(): DurableObjectStub<Repository> {
    this.#calls++
    return this.#object
  }

  /** For who comes next: this request may be in the middle of its answer. */
  #restoreSoon(): void {
    if (this.#isRestoring) return
    this.#isRestoring = true
    this.#deps.waitUntil(this.#stub.restore(this.address))
  }
}

function manifestOf({ base, refs }: KeptManifest, selection: RefSelection): Manifest {
  // Null where this isolate has no refs: then it is not told that nothing has changed unless it asks for none.
  return { ...base, refs: refs?.select(withDefaultBranch(selection, base.defaultBranch)) ?? [] }
}

function notReadable(outcome: Exclude<ReadAccountOutcome, { state: 'read' }>): Error {
  if (outcome.state === 'gone') return new RepositoryGoneError()
  if (outcome.state === 'refused') return new MirrorRefusedError(outcome)
  return new MirrorUnavailableError(
    `this repository is not mirrored yet, and its account's server cannot be asked now: ${outcome.message}`,
    outcome.retryAfterSeconds,
  )
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    yield* parts
  }
  if (rest !== '') yield rest
}

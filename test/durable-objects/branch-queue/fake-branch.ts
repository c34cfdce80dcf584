import type {
  Branch,
  BranchPosition,
  LandFailure,
  LandOutcome,
  PreparedLanding,
} from '../../../durable-objects/branch-queue/branch.ts'
import type { Fold } from '../../../durable-objects/branch-queue/fold-batch.ts'
import { readTip } from '../../../durable-objects/branch-queue/ground.ts'
import type { Attempt } from '../../../durable-objects/branch-queue/queue-store.ts'
import type { Oid } from '../../../git/bytes/oid.ts'
import { parseCommit, serializeCommit } from '../../../git/object/commit.ts'
import { COMMIT } from '../../../git/object/object-type.ts'
import { readObject } from '../../../git/object/read-object.ts'
import { resolveTreePath } from '../../../git/walk/tree-path.ts'
import { type Files, MemoryObjects } from '../../git/memory-objects.ts'
import { utf8 } from '../../git/pack/pack-builder.ts'

/** What happens to a landing: it is tried as it should be; what is thrown or answered in its place may hide that it landed. */
export interface Fate {
  /** Before the account is asked. */
  readonly before?: () => void | Promise<void>
  /** Default: whether it lands is seen by the ref. False: it never arrives. */
  readonly arrives?: boolean
  /** What is answered, whatever has happened. */
  readonly answer?: Partial<LandFailure>
}

const OTHER = { name: 'Other', email: 'o@x', time: 1_700_000_000, zone: 0 }

/** A branch in an account in memory, moved by compare-and-swap, with faults in an order that is given. */
export class FakeBranch implements Branch {
  readonly objects = new MemoryObjects()
  tip: Oid | null = null
  seq = 0
  /** Of the landings that came, in their order. */
  readonly fates: Fate[] = []
  /** Thrown by what reads the mirror or the account, one each. */
  readonly troubles: Error[] = []
  readonly landings: number[] = []
  readonly looks: string[] = []
  readonly #packs = new Set<string>()
  #known: { readonly tip: Oid | null; readonly seq: number } | null = null
  #ids = 0
  /** Thrown where a file of this content is read. */
  poison: Oid | null = null

  /** Somebody else moves the branch. */
  push(files: Files, message = 'pushed'): Oid {
    const tree = this.objects.tree(files)
    const parents = this.tip === null ? [] : [this.tip]
    const bytes = serializeCommit({ tree, parents, author: OTHER, committer: OTHER, message })
    this.tip = this.objects.add(COMMIT, bytes)
    this.seq++
    return this.tip
  }

  async position(): Promise<BranchPosition> {
    return this.#known === null ? this.#look('mirror') : this.#at(this.#known, 'kept')
  }

  async reload(fromAccount: boolean): Promise<BranchPosition> {
    return this.#look(fromAccount ? 'account' : 'mirror')
  }

  forget(): void {
    this.#known = null
  }

  async prepare({ place }: BranchPosition, fold: Fold): Promise<PreparedLanding> {
    const id = `landing${++this.#ids}`
    const cost = { packs: 0, packBytes: 0, r2Reads: 0 }
    return { id, pack: `pack of ${id}`, cost, land: () => this.#land(id, place.tip?.commit ?? null, fold) }
  }

  async hasLanded({ pack }: Attempt): Promise<boolean> {
    this.#trouble()
    this.looks.push('pack')
    return this.#packs.has(pack!)
  }

  /** The first lines of the messages, the oldest first. */
  async history(): Promise<string[]> {
    const messages: string[] = []
    for (let at = this.tip; at !== null; ) {
      const { message, parents } = parseCommit(await readObject(this.objects, at, COMMIT))
      messages.unshift(new TextDecoder().decode(message).split('\n')[0]!)
      at = parents[0] ?? null
    }
    return messages
  }

  async read(path: string): Promise<string | null> {
    const tip = await readTip(this.objects, this.tip!)
    const entry = await resolveTreePath(this.objects, tip!.tree, utf8(path))
    if (entry === null) return null
    const object = await this.objects.read(entry.oid)
    return new TextDecoder().decode(object!.bytes)
  }

  async #land(id: string, from: Oid | null, fold: Fold): Promise<LandOutcome> {
    const fate = this.fates.shift() ?? {}
    await fate.before?.()
    const lands = fate.arrives !== false && this.tip === from
    if (lands) {
      this.objects.addAll(fold.objects)
      this.tip = fold.tip?.commit ?? null
      this.seq++
      this.#packs.add(`pack of ${id}`)
      this.landings.push(fold.applied.length)
    }
    if (fate.answer !== undefined) return { ...FAILURE, ...fate.answer }
    this.#known = lands ? { tip: this.tip, seq: this.seq } : null
    return { state: lands ? 'landed' : 'lost' }
  }

  async #look(freshness: 'mirror' | 'account'): Promise<BranchPosition> {
    this.#trouble()
    this.looks.push(freshness)
    this.#known = { tip: this.tip, seq: this.seq }
    return this.#at(this.#known, freshness)
  }

  async #at(
    { tip, seq }: { readonly tip: Oid | null; readonly seq: number },
    freshness: BranchPosition['freshness'],
  ): Promise<BranchPosition> {
    const place = {
      ref: 'refs/heads/main',
      tip: tip === null ? null : await readTip(this.objects, tip),
      unreadable: null,
      mayBegin: false,
      inTheWay: null,
    }
    const { objects } = this
    const stored = {
      objects: {
        read: async (oid: Oid) => {
          if (oid === this.poison) throw new TypeError('a bug')
          return objects.read(oid)
        },
        stat: (oid: Oid) => objects.stat(oid),
      },
      graph: async () => {
        throw new Error('no work here needs it')
      },
    }
    return { place, stored, seq, freshness }
  }

  #trouble(): void {
    const trouble = this.troubles.shift()
    if (trouble !== undefined) throw trouble
  }
}

const FAILURE: LandFailure = {
  state: 'failed',
  message: 'pds.test does not answer',
  retryAfterSeconds: null,
  isUncertain: false,
  isForOwner: false,
  isRefused: false,
}

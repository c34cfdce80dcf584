import { Bitmap } from '../bytes/bitmap.ts'
import { type Oid, oidFromBytes, oidToBytes } from '../bytes/oid.ts'
import { NO_COMMIT, type RepositoryGraph } from '../graph/repository-graph.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import { MissingObjectError } from '../object/missing-object-error.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { COMMIT, TAG, TREE } from '../object/object-type.ts'
import { TreeReader } from '../object/tree.ts'
import {
  countSelected,
  findPlace,
  makePlace,
  NOWHERE,
  ordinalOf,
  packOf,
  type Selection,
  select,
  selects,
} from '../pack/object-place.ts'
import { ClientObjects } from './client-objects.ts'
import { missingCommits } from './missing-commits.ts'
import { peelTag } from './peel-tag.ts'

export interface FetchWish {
  /** Objects of any type that the repository has. */
  readonly wants: readonly Oid[]
  /** What the client says that it has. Those that the repository does not know are of no use and do no harm. */
  readonly haves: readonly Oid[]
  /**
   * Annotated tags that are sent along if what they point at in the end is sent (`include-tag`). Those without `peeled`
   * are passed over, so that a list of refs will do.
   */
  readonly includeTags?: Iterable<{ readonly target: Oid; readonly peeled: Oid | null }>
}

export interface FetchPlan {
  /** What to send: each object once, at its first entry in the oldest pack that has it. */
  readonly selection: Selection
  /** How many objects that is. */
  readonly objects: number
  readonly client: ClientObjects
}

/**
 * Finds what a client must be sent: all that its wants reach and its haves do not. Planned from the graphs alone; trees
 * are read only where one is wanted itself, or reached otherwise than by a commit.
 *
 * @throws {@link MissingObjectError} if a want is absent, or history is cut off below one
 */
export async function planFetch(graph: RepositoryGraph, wish: FetchWish, objects: ObjectSource): Promise<FetchPlan> {
  const planner = new FetchPlanner(graph, objects)
  const had = commitsOf(graph, wish.haves)
  for (const oid of wish.wants) planner.want(oid)
  planner.selectCommits(missingCommits(graph, planner.commits, had))
  await planner.selectTrees()
  planner.settle()
  for (const { target, peeled } of wish.includeTags ?? []) if (peeled !== null) planner.followTag(target, peeled)
  const { selection } = planner
  return { selection, objects: countSelected(selection), client: new ClientObjects(graph, had) }
}

/** The commits that some objects are or, if tags, point at; others are left out. */
export function commitsOf(graph: RepositoryGraph, oids: Iterable<Oid>): number[] {
  const commits = new Set<number>()
  for (const oid of oids) {
    const commit = graph.find(peelTag(graph, oid))
    if (commit !== NO_COMMIT) commits.add(commit)
  }
  return [...commits]
}

class FetchPlanner {
  readonly selection: Selection
  /** Wanted commits. */
  readonly commits: number[] = []
  readonly #graph: RepositoryGraph
  readonly #objects: ObjectSource
  readonly #trees: Oid[] = []

  constructor(graph: RepositoryGraph, objects: ObjectSource) {
    this.#graph = graph
    this.#objects = objects
    this.selection = graph.packs.map(({ index }) => new Bitmap(index.entries))
  }

  /** Selects an object, and notes what of it is to be followed. */
  want(wanted: Oid): void {
    let oid = wanted
    for (let target = this.#wantOne(oid); target !== null; target = this.#wantOne(oid)) oid = target
  }

  /** @returns what a tag points at: it is wanted too. */
  #wantOne(oid: Oid): Oid | null {
    const commit = this.#graph.find(oid)
    if (commit !== NO_COMMIT) {
      this.commits.push(commit)
      return null
    }
    const place = findPlace(this.#graph.packs, oidToBytes(oid))
    if (place === NOWHERE) throw new MissingObjectError(oid)
    switch (this.#graph.packs[packOf(place)]!.index.type(ordinalOf(place))) {
      case TAG: {
        const target = this.#graph.tagTarget(oid)
        if (target === null) throw new MissingObjectError(oid)
        select(this.selection, place)
        return target.oid
      }
      case TREE:
        this.#trees.push(oid)
        return null
      case COMMIT:
        // No graph has it: its form is broken, so what it needs is unknown.
        throw new MissingObjectError(oid)
      default:
        select(this.selection, place)
        return null
    }
  }

  selectCommits(commits: Uint32Array): void {
    const { packs } = this.#graph
    const touched = new Set<number>()
    for (const commit of commits) {
      const [missing] = this.#graph.missingParents(commit)
      if (missing !== undefined) throw new MissingObjectError(missing)
      const pack = this.#graph.packIndex(commit)
      const local = this.#graph.local(commit)
      const { graph } = packs[pack]!
      touched.add(pack)
      this.selection[pack]!.set(graph.ordinals[local]!)
      for (const reference of graph.objects(local)) this.#selectReference(pack, reference)
    }
    for (const pack of touched) this.#selectLate(pack)
  }

  /** Trees that are wanted as such, with all below them. What is selected already has been followed. */
  async selectTrees(): Promise<void> {
    for (let oid = this.#trees.pop(); oid !== undefined; oid = this.#trees.pop()) {
      const place = findPlace(this.#graph.packs, oidToBytes(oid))
      if (place === NOWHERE) throw new MissingObjectError(oid)
      if (selects(this.selection, place)) continue
      const tree = await this.#objects.read(oid)
      if (tree === null) throw new MissingObjectError(oid)
      select(this.selection, place)
      const entries = new TreeReader(tree.bytes)
      while (entries.next()) {
        if (isGitlink(entries.mode)) continue
        if (isDirectory(entries.mode)) this.#trees.push(oidFromBytes(tree.bytes, entries.oidAt))
        else this.#selectId(tree.bytes, entries.oidAt)
      }
    }
  }

  /** Selects a tag, and the tags that it points at, if `peeled` is selected. */
  followTag(tag: Oid, peeled: Oid): void {
    const target = findPlace(this.#graph.packs, oidToBytes(peeled))
    if (target === NOWHERE || !selects(this.selection, target)) return
    for (let at = tag; at !== peeled; ) {
      const place = findPlace(this.#graph.packs, oidToBytes(at))
      const next = this.#graph.tagTarget(at)
      if (place === NOWHERE || next === null) return
      select(this.selection, place)
      at = next.oid
    }
  }

  /** Moves every object to its first entry in the oldest pack that has it. */
  settle(): void {
    const { packs } = this.#graph
    for (let pack = 0; pack < packs.length; pack++) {
      const { index } = packs[pack]!
      if (pack === 0 && index.ids === index.entries) continue
      const ordinals = this.selection[pack]!
      for (let ordinal = ordinals.next(0); ordinal >= 0; ordinal = ordinals.next(ordinal + 1)) {
        const place = findPlace(packs, index.oidBytes(ordinal), 0, pack + 1)
        if (place === makePlace(pack, ordinal)) continue
        ordinals.clear(ordinal)
        select(this.selection, place)
      }
    }
  }

  #selectReference(pack: number, reference: number): void {
    const place = this.#graph.place(pack, reference)
    if (place !== NOWHERE) select(this.selection, place)
    else throw new MissingObjectError(this.#graph.packs[pack]!.graph.external(reference))
  }

  #selectId(oid: Uint8Array, at: number): void {
    const place = findPlace(this.#graph.packs, oid, at)
    if (place === NOWHERE) throw new MissingObjectError(oidFromBytes(oid, at))
    select(this.selection, place)
  }

  /**
   * Objects that were nowhere when a pack's graph was made are in no commit's list. Those that a later pack brought are
   * sent with whatever is sent of the pack.
   */
  #selectLate(pack: number): void {
    for (const reference of this.#graph.packs[pack]!.graph.missing) {
      const place = this.#graph.place(pack, reference)
      if (place === NOWHERE) continue
      const { index } = this.#graph.packs[packOf(place)]!
      const ordinal = ordinalOf(place)
      const type = index.type(ordinal)
      if (type === TREE) this.#trees.push(index.oid(ordinal))
      else if (type !== COMMIT) select(this.selection, place)
    }
  }
}

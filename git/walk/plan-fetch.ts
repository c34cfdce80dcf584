import { type Oid, oidToBytes } from '../bytes/oid.ts'
import { NO_COMMIT, type RepositoryGraph } from '../graph/repository-graph.ts'
import { MissingObjectError } from '../object/missing-object-error.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { COMMIT, TAG, TREE } from '../object/object-type.ts'
import {
  countSelected,
  findPlace,
  makePlace,
  NOWHERE,
  ordinalOf,
  type Place,
  packOf,
  type Selection,
  select,
  selects,
} from '../pack/object-place.ts'
import { ClientObjects } from './client-objects.ts'
import { type HistoryEnds, type MissingCommits, missingCommits } from './missing-commits.ts'
import { filterSelection, NO_FILTER, type ObjectFilter, passesCommitsOnly } from './object-filter.ts'
import { peelTag } from './peel-tag.ts'
import type { ShallowUpdate } from './shallow-update.ts'
import { emptySelection, TreeLevels } from './tree-levels.ts'

/** Commits whose trees are compared with those that are wanted at a boundary, at most: each may cost a few reads. */
const COMPARED_COMMITS = 32
/** Objects whose tags are asked for by their ids, at most; with more to send, a list of all tags is no cost. */
const NAMED_OBJECTS = 1_000

export interface FetchWish {
  /** Objects of any type that the repository has. */
  readonly wants: readonly Oid[]
  /** What the client says that it has. Those that the repository does not know are of no use and do no harm. */
  readonly haves: readonly Oid[]
  /** Commits at which the client's history ends (it is a shallow clone). */
  readonly shallow?: readonly Oid[]
  /** How these ends move with this fetch; null: they stay. */
  readonly update?: ShallowUpdate | null
  /** What is left out; null: nothing. */
  readonly filter?: ObjectFilter | null
  /** Finds the annotated tags that are sent along if what they point at in the end is sent (`include-tag`); null: none is. */
  readonly findTags?: FindTags | null
}

/**
 * Gives the annotated tags that point in the end at one of these objects, or, for null, at any. Others may be among them,
 * so that a list of all tags will do, and refs without `peeled`.
 */
export type FindTags = (
  peeled: readonly Oid[] | null,
) => Promise<Iterable<{ readonly target: Oid; readonly peeled: Oid | null }>>

export interface FetchPlan {
  /** What to send: each object once, at its first entry in the oldest pack that has it. */
  readonly selection: Selection
  /** How many objects that is. */
  readonly objects: number
  readonly client: ClientObjects
}

/**
 * Finds what a client must be sent: all that its wants reach and its haves do not, up to where its history is to end.
 *
 * Planned from the graphs alone. Trees are read only where these do not say enough: where a tree is wanted itself, or
 * reached otherwise than by a commit; at the boundary of shallow history, because what a commit shares with a parent that
 * is not sent is new in neither; and where a filter goes by depth.
 *
 * @throws {@link MissingObjectError} if a want is absent, or history is cut off below one
 */
export async function planFetch(graph: RepositoryGraph, wish: FetchWish, objects: ObjectSource): Promise<FetchPlan> {
  const planner = new FetchPlanner(graph, objects, wish.filter ?? NO_FILTER)
  const { ends, unshallowed } = historyEnds(commitsOf(graph, wish.shallow ?? []), wish.update ?? null)
  // The client gets the parents of these whether its wants reach them or not.
  const had = [...new Set([...commitsOf(graph, wish.haves), ...unshallowed])]
  for (const oid of wish.wants) planner.want(oid)
  const deeper = unshallowed.flatMap((commit) => [...graph.parents(commit)])
  await planner.selectHistory(missingCommits(graph, [...planner.commits, ...deeper], had, ends))
  planner.settle()
  planner.leaveKnown()
  await planner.selectTrees()
  await planner.filter()
  if (wish.findTags) await planner.includeTags(wish.findTags)
  const { selection } = planner
  return { selection, objects: countSelected(selection), client: new ClientObjects(graph, had, ends.had) }
}

/** @param shallow where the client's history ends before the fetch */
function historyEnds(
  shallow: readonly number[],
  update: ShallowUpdate | null,
): { ends: HistoryEnds; unshallowed: readonly number[] } {
  const unshallowed = update?.unshallow ?? []
  const wanted = new Set([...shallow, ...(update?.shallow ?? [])])
  for (const commit of unshallowed) wanted.delete(commit)
  return { ends: { wanted, had: new Set(shallow) }, unshallowed }
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
  /** What is wanted by its id, or by that of a tag: it passes any filter. */
  readonly #explicit: Selection
  readonly #graph: RepositoryGraph
  readonly #objects: ObjectSource
  readonly #filter: ObjectFilter
  readonly #levels: TreeLevels
  /** Trees that are wanted otherwise than by a commit. */
  readonly #trees: Place[] = []

  constructor(graph: RepositoryGraph, objects: ObjectSource, filter: ObjectFilter) {
    this.#graph = graph
    this.#objects = objects
    this.#filter = filter
    this.#levels = new TreeLevels(graph.packs, objects)
    this.selection = emptySelection(graph.packs)
    this.#explicit = emptySelection(graph.packs)
  }

  /** Selects an object, and notes what of it is to be followed. */
  want(wanted: Oid): void {
    let oid = wanted
    for (let target = this.#wantOne(oid); target !== null; target = this.#wantOne(oid)) oid = target
  }

  /** @returns what a tag points at: it is wanted too. */
  #wantOne(oid: Oid): Oid | null {
    const place = findPlace(this.#graph.packs, oidToBytes(oid))
    if (place === NOWHERE) throw new MissingObjectError(oid)
    select(this.#explicit, place)
    switch (this.#graph.packs[packOf(place)]!.index.type(ordinalOf(place))) {
      case TAG: {
        const target = this.#graph.tagTarget(oid)
        if (target === null) throw new MissingObjectError(oid)
        select(this.selection, place)
        return target.oid
      }
      case TREE:
        this.#trees.push(place)
        return null
      case COMMIT: {
        const commit = this.#graph.find(oid)
        // No graph has it: its form is broken, so what it needs is unknown.
        if (commit === NO_COMMIT) throw new MissingObjectError(oid)
        this.commits.push(commit)
        return null
      }
      default:
        select(this.selection, place)
        return null
    }
  }

  /** Selects commits and, as the filter allows, what is in their trees and not in those that the client has. */
  async selectHistory(missing: MissingCommits): Promise<void> {
    const boundary = new Set(missing.boundary())
    for (const commit of missing.commits) {
      const [absent] = boundary.has(commit) ? [] : this.#graph.missingParents(commit)
      if (absent !== undefined) throw new MissingObjectError(absent)
      const pack = this.#graph.packIndex(commit)
      this.selection[pack]!.set(this.#graph.packs[pack]!.graph.ordinals[this.#graph.local(commit)]!)
    }
    if (passesCommitsOnly(this.#filter)) return
    // Where the client's history goes on below its old end, most of what is older it has already.
    await this.#levels.know(this.#treesOf(missing.deepened().slice(0, COMPARED_COMMITS)))
    const goesByDepth = this.#filter.treeDepth < Number.POSITIVE_INFINITY
    const walked = goesByDepth ? [...missing.commits] : [...boundary]
    if (walked.length > 0) {
      const theirs = this.#treesOf(missing.edge().slice(0, COMPARED_COMMITS))
      const trees = this.#treesOf(walked)
      const absent = trees.indexOf(NOWHERE)
      if (absent >= 0) throw new MissingObjectError(this.#graph.tree(walked[absent]!))
      await this.#levels.select(this.selection, trees, theirs, this.#filter.treeDepth)
    }
    if (!goesByDepth) this.#selectLists(missing.commits, boundary)
  }

  /** Selects what is new in commits, by the lists of the graphs. */
  #selectLists(commits: Uint32Array, except: ReadonlySet<number>): void {
    const { packs } = this.#graph
    const touched = new Set<number>()
    for (const commit of commits) {
      const pack = this.#graph.packIndex(commit)
      touched.add(pack)
      if (except.has(commit)) continue
      for (const reference of packs[pack]!.graph.objects(this.#graph.local(commit))) {
        this.#selectReference(pack, reference)
      }
    }
    // What packs hold that is new in commits of others.
    this.#graph.forEachShared(commits, except, (pack, references) => {
      for (const reference of references) this.#selectReference(pack, reference)
    })
    for (const pack of touched) this.#selectLate(pack)
  }

  #treesOf(commits: readonly number[]): Place[] {
    return commits.map((commit) => findPlace(this.#graph.packs, oidToBytes(this.#graph.tree(commit))))
  }

  /** Trees that are wanted as such. A filter by depth starts to count below them, as it does below commits. */
  async selectTrees(): Promise<void> {
    if (this.#trees.length > 0) {
      await new TreeLevels(this.#graph.packs, this.#objects).select(
        this.selection,
        this.#trees,
        [],
        this.#filter.treeDepth + 1,
      )
    }
  }

  /** Takes out what does not pass the filter. */
  async filter(): Promise<void> {
    if (this.#filter === NO_FILTER) return
    await filterSelection(this.#graph.packs, this.selection, this.#explicit, this.#filter, this.#objects)
  }

  /** Selects the tags of what is selected. Where that is little, only tags of just these objects are asked for. */
  async includeTags(find: FindTags): Promise<void> {
    const ids = countSelected(this.selection) <= NAMED_OBJECTS ? this.#selectedIds() : null
    const known = ids && new Set(ids)
    for (const { target, peeled } of await find(ids)) {
      if (peeled !== null && (known === null || known.has(peeled))) this.#followTag(target, peeled)
    }
  }

  #selectedIds(): Oid[] {
    return this.selection.flatMap((ordinals, pack) =>
      [...ordinals].map((ordinal) => this.#graph.packs[pack]!.index.oid(ordinal)),
    )
  }

  /** Selects a tag, and the tags that it points at, if `peeled` is selected. */
  #followTag(tag: Oid, peeled: Oid): void {
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

  /** Takes out what the client has, as far as that was looked at; what it wants by id it gets all the same. */
  leaveKnown(): void {
    for (const [pack, known] of this.#levels.known.entries()) {
      for (const ordinal of this.#explicit[pack]!) known.clear(ordinal)
      this.selection[pack]!.clearAll(known)
    }
  }

  #selectReference(pack: number, reference: number): void {
    const place = this.#graph.place(pack, reference)
    if (place !== NOWHERE) select(this.selection, place)
    else throw new MissingObjectError(this.#graph.packs[pack]!.graph.external(reference))
  }

  /**
   * Objects that were nowhere when a pack's graph was made are in no commit's list. Those that a later pack brought are
   * sent with whatever is sent of the pack.
   */
  #selectLate(pack: number): void {
    for (const reference of this.#graph.packs[pack]!.graph.missing) {
      const place = this.#graph.place(pack, reference)
      if (place === NOWHERE) continue
      const type = this.#graph.packs[packOf(place)]!.index.type(ordinalOf(place))
      if (type === TREE) this.#trees.push(place)
      else if (type !== COMMIT) select(this.selection, place)
    }
  }
}

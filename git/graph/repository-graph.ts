import { Bitmap } from '../bytes/bitmap.ts'
import { LruCache } from '../bytes/lru-cache.ts'
import { type Oid, oidFromBytes, oidToBytes } from '../bytes/oid.ts'
import { type ObjectType, TAG } from '../object/object-type.ts'
import { findPlace, makePlace, type Place } from '../pack/object-place.ts'
import type { CommitGraph } from './commit-graph.ts'
import { EXTERNAL_REFERENCE, type PackGraph, PackGraphError } from './pack-graph.ts'
import type { KnownPack } from './pack-handle.ts'

/** The number of no commit. */
export const NO_COMMIT = -1

/** Bytes of the graphs that are kept, with those of the packs' files that they hold on to. A larger one is not kept. */
const KEPT_BYTES = 32 * 1024 * 1024
/** What it takes to look up one commit among shares. */
const LOOK_UP_STEPS = 16
const NO_REFERENCES = new Uint32Array(0)

/** The shares of a pack by their commits: the numbers of these, ascending, and by them the place in the pack's graph. */
interface Shares {
  readonly commits: Uint32Array
  readonly places: Uint32Array
}

/** Graphs made before, by the graph of their oldest pack: one a repository. */
const made = new LruCache<PackGraph, RepositoryGraph>(KEPT_BYTES, (graph) => graph.heldBytes)

/**
 * The commits of several packs as one graph: about 24 bytes a commit and 4 a parent, beside the packs' own files.
 * Commits are numbered pack by pack, oldest first, in the order in which they lie there; one that several packs have
 * counts once.
 */
export class RepositoryGraph implements CommitGraph {
  /** Oldest first. */
  readonly packs: readonly KnownPack[]
  readonly size: number
  /** The number of each pack's first commit, and at the end `size`. */
  readonly #starts: number[]
  /** By commit: its number in the graph of its pack. */
  readonly #locals: Uint32Array
  readonly #times: Float64Array
  readonly #generations: Uint32Array
  readonly #parentEnds: Uint32Array
  readonly #parents: Uint32Array
  /** Parents that no pack has, by commit. */
  readonly #missingParents: Map<number, Oid[]>
  /** By pack: the places of the objects that its graph calls external; found when first asked for. */
  readonly #externals: Float64Array[] = []
  /** By pack: found when first asked for. */
  readonly #shares: Shares[] = []
  #isMixed = false

  /**
   * The graph of these packs, oldest first. What was made for the first of them is used again: a new push costs what it
   * brings, and a merge of packs what was merged.
   */
  static of(packs: readonly KnownPack[]): RepositoryGraph {
    const [oldest] = packs
    if (oldest === undefined) return new RepositoryGraph([])
    const before = made.get(oldest.graph)
    const same = before === undefined ? 0 : countSame(before.packs, packs)
    if (same === packs.length && same === before?.packs.length) return before
    // The packs' bytes belong to a request, and are not to be kept.
    const known = packs.map(({ index, graph }) => ({ index, graph }))
    const graph = before?.replaceFrom(same, known.slice(same)) ?? new RepositoryGraph(known)
    // One that is too large would hold on to files that the next reader reads anew: there would be all of them twice.
    if (graph.heldBytes <= KEPT_BYTES) made.set(oldest.graph, graph)
    return graph
  }

  /**
   * @param packs oldest first
   * @param older a graph whose work is used again
   * @param first how many of the first packs are the same in it
   */
  constructor(packs: readonly KnownPack[], older: RepositoryGraph | null = null, first = 0) {
    this.packs = packs
    const added = packs.slice(first)
    const [oldCommits, oldParents] = older === null ? [0, 0] : older.#countUpTo(first)
    const commits = added.reduce((sum, { graph }) => sum + graph.commits, oldCommits)
    const parents = added.reduce((sum, { graph }) => sum + countParents(graph), oldParents)
    this.#starts = older === null ? [0] : older.#starts.slice(0, first + 1)
    this.#locals = grown(new Uint32Array(commits), older === null ? null : older.#locals, oldCommits)
    this.#times = grown(new Float64Array(commits), older === null ? null : older.#times, oldCommits)
    this.#generations = grown(new Uint32Array(commits), older === null ? null : older.#generations, oldCommits)
    this.#parentEnds = grown(new Uint32Array(commits), older === null ? null : older.#parentEnds, oldCommits)
    this.#parents = grown(new Uint32Array(parents), older === null ? null : older.#parents, oldParents)
    this.#missingParents = new Map(older?.missingBelow(oldCommits))
    if (older?.isMixed) this.#isMixed = true
    for (let pack = first; pack < packs.length; pack++) this.#number(pack)
    this.size = this.#starts.at(-1)!
    let sound = true
    for (let pack = first; pack < packs.length; pack++) sound = this.#link(pack) && sound
    if (!sound) this.#recomputeGenerations()
  }

  /**
   * The graph with packs added at the end. This one stays as it is for those who still read it, and its numbers mean
   * the same commits in both.
   */
  extend(newer: readonly KnownPack[]): RepositoryGraph {
    return this.replaceFrom(this.packs.length, newer)
  }

  /** The same with other packs in place of those from `first` on. */
  replaceFrom(first: number, newer: readonly KnownPack[]): RepositoryGraph {
    const packs = [...this.packs.slice(0, first), ...newer]
    const [commits] = this.#countUpTo(first)
    // If a parent that was missing has come, its children change; so they do if parents go: rare enough to start over.
    const loses = this.#isMixed && first < this.packs.length
    const completes = this.missingBelow(commits).some(([, parents]) =>
      parents.some((parent) => {
        const oid = oidToBytes(parent)
        return newer.some(({ index }) => index.find(oid) >= 0)
      }),
    )
    return loses || completes ? new RepositoryGraph(packs) : new RepositoryGraph(packs, this, first)
  }

  /** Whether a commit's parent is in a newer pack than itself. */
  get isMixed(): boolean {
    return this.#isMixed
  }

  /** Bytes of the tables, and of the files of the packs. */
  get heldBytes(): number {
    const tables = [this.#locals, this.#times, this.#generations, this.#parentEnds, this.#parents]
    const own = tables.reduce((sum, { byteLength }) => sum + byteLength, 0)
    return this.packs.reduce((sum, { index, graph }) => sum + index.byteLength + graph.byteLength, own)
  }

  /** Commits that lack parents, of those with a lower number, and the parents that they lack. */
  missingBelow(commits: number): [commit: number, parents: Oid[]][] {
    return [...this.#missingParents].filter(([commit]) => commit < commits)
  }

  /** How many commits the first packs have, and how many parents those have. */
  #countUpTo(packs: number): [commits: number, parents: number] {
    const commits = this.#starts[packs]!
    return [commits, commits === 0 ? 0 : this.#parentEnds[commits - 1]!]
  }

  find(oid: Oid): number {
    return this.findBytes(oidToBytes(oid))
  }

  /** The number of the commit whose raw id is at `at` of `oid`, or {@link NO_COMMIT}. */
  findBytes(oid: Uint8Array, at = 0): number {
    for (let pack = 0; pack < this.packs.length; pack++) {
      const { index, graph } = this.packs[pack]!
      const ordinal = index.find(oid, at)
      if (ordinal < 0) continue
      const local = indexOf(graph.ordinals, ordinal)
      return local < 0 ? NO_COMMIT : this.#numberOf(pack, local)
    }
    return NO_COMMIT
  }

  oid(commit: number): Oid {
    const { index, graph } = this.packs[this.packIndex(commit)]!
    return index.oid(graph.ordinals[this.#locals[commit]!]!)
  }

  parents(commit: number): Uint32Array {
    return this.#parents.subarray(commit === 0 ? 0 : this.#parentEnds[commit - 1]!, this.#parentEnds[commit]!)
  }

  tree(commit: number): Oid {
    const { index, graph } = this.packs[this.packIndex(commit)]!
    const reference = graph.trees[this.#locals[commit]!]!
    return reference < EXTERNAL_REFERENCE ? index.oid(reference) : graph.external(reference)
  }

  time(commit: number): number {
    return this.#times[commit]!
  }

  generation(commit: number): number {
    return this.#generations[commit]!
  }

  isComplete(commit: number): boolean {
    return !this.#missingParents.has(commit)
  }

  tagTarget(oid: Oid): { readonly oid: Oid; readonly type: ObjectType } | null {
    const bytes = oidToBytes(oid)
    for (const { index, graph } of this.packs) {
      const ordinal = index.find(bytes)
      if (ordinal < 0 || index.type(ordinal) !== TAG) continue
      const tag = indexOf(graph.tagOrdinals, ordinal)
      if (tag < 0) continue
      const reference = graph.tagTargets[tag]!
      const target = reference < EXTERNAL_REFERENCE ? index.oid(reference) : graph.external(reference)
      return { oid: target, type: graph.tagType(tag) }
    }
    return null
  }

  /** Whether a pack has the object, of whatever type. */
  hasObject(oid: Oid): boolean {
    return this.typeOf(oid) !== null
  }

  /** The type of an object, or null if no pack has it. */
  typeOf(oid: Oid): ObjectType | null {
    const bytes = oidToBytes(oid)
    for (const { index } of this.packs) {
      const ordinal = index.find(bytes)
      if (ordinal >= 0) return index.type(ordinal)
    }
    return null
  }

  /** Parents of a commit that no pack has. */
  missingParents(commit: number): readonly Oid[] {
    return this.#missingParents.get(commit) ?? []
  }

  /** The place in `packs` of the pack that a commit was numbered in. */
  packIndex(commit: number): number {
    let low = 0
    let high = this.packs.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#starts[middle]! <= commit) low = middle
      else high = middle
    }
    return low
  }

  /** The commit's number in the graph of that pack. */
  local(commit: number): number {
    return this.#locals[commit]!
  }

  /** Where an object lies that the graph of `packs[pack]` names by a reference, or NOWHERE. */
  place(pack: number, reference: number): Place {
    if (reference < EXTERNAL_REFERENCE) return makePlace(pack, reference)
    this.#externals[pack] ??= this.#placeExternals(pack)
    return this.#externals[pack]![reference - EXTERNAL_REFERENCE]!
  }

  /** Whether packs hold what is new in commits of others, see PackGraph. */
  get hasShares(): boolean {
    return this.packs.some(({ graph }) => graph.shareCommits.length > 0)
  }

  /** The references of a pack to what it holds that is new in a commit of another, see PackGraph. None, mostly. */
  shared(pack: number, commit: number): Uint32Array {
    const { graph } = this.packs[pack]!
    if (graph.shareCommits.length === 0) return NO_REFERENCES
    this.#shares[pack] ??= this.#sortShares(pack)
    const { commits, places } = this.#shares[pack]!
    const at = indexOf(commits, commit)
    if (at < 0) return NO_REFERENCES
    if (commits[at + 1] !== commit) return graph.shared(places[at]!)
    // Parts of one list that were merged.
    const references: number[] = []
    for (let next = at; commits[next] === commit; next++) references.push(...graph.shared(places[next]!))
    return Uint32Array.from(references)
  }

  /**
   * The same for each of these commits.
   *
   * @param visit hears of the pack and of references
   */
  forEachShared(
    commits: Uint32Array,
    except: ReadonlySet<number>,
    visit: (pack: number, shared: Uint32Array) => void,
  ): void {
    for (const [pack, { graph }] of this.packs.entries()) {
      const shares = graph.shareCommits.length
      if (shares === 0) continue
      if (commits.length * LOOK_UP_STEPS < shares) {
        for (const commit of commits) if (!except.has(commit)) visit(pack, this.shared(pack, commit))
        continue
      }
      const wanted = new Bitmap(this.size)
      for (const commit of commits) if (!except.has(commit)) wanted.set(commit)
      this.#shares[pack] ??= this.#sortShares(pack)
      const { commits: shared, places } = this.#shares[pack]!
      for (const [i, commit] of shared.entries()) if (wanted.has(commit)) visit(pack, graph.shared(places[i]!))
    }
  }

  #sortShares(pack: number): Shares {
    const { index, graph } = this.packs[pack]!
    // A pack that was merged may have the commits of its shares.
    const oid = (reference: number) =>
      reference < EXTERNAL_REFERENCE ? index.oidBytes(reference) : graph.externalBytes(reference)
    const found = Int32Array.from(graph.shareCommits, (reference) => this.findBytes(oid(reference)))
    const isSorted = found.every((commit, i) => commit >= 0 && (i === 0 || commit > found[i - 1]!))
    const places = Uint32Array.from(found.keys())
    if (isSorted) return { commits: new Uint32Array(found.buffer), places }
    const sorted = places.filter((place) => found[place]! >= 0).sort((a, b) => found[a]! - found[b]!)
    return { commits: sorted.map((place) => found[place]!), places: sorted }
  }

  #placeExternals(pack: number): Float64Array {
    const { graph } = this.packs[pack]!
    const places = new Float64Array(graph.externals)
    for (let i = 0; i < places.length; i++) {
      places[i] = findPlace(this.packs, graph.externalBytes(EXTERNAL_REFERENCE + i))
    }
    return places
  }

  /** Gives numbers to the commits that are new in a pack. */
  #number(pack: number): void {
    const { index, graph } = this.packs[pack]!
    const mayRepeat = pack > 0 || index.ids < index.entries
    let number = this.#starts.at(-1)!
    for (let local = 0; local < graph.commits; local++) {
      const ordinal = graph.ordinals[local]!
      if (mayRepeat && findPlace(this.packs, index.oidBytes(ordinal), 0, pack + 1) !== makePlace(pack, ordinal))
        continue
      this.#locals[number] = local
      this.#times[number] = graph.times[local]!
      this.#generations[number] = graph.generations[local]!
      number++
    }
    this.#starts.push(number)
  }

  /** Resolves the parents of a pack's commits. @returns false if a generation is not larger than a parent's. */
  #link(pack: number): boolean {
    const { index, graph } = this.packs[pack]!
    const numbers = new Int32Array(index.entries).fill(NO_COMMIT)
    const [start, end] = [this.#starts[pack]!, this.#starts[pack + 1]!]
    for (let commit = start; commit < end; commit++) numbers[graph.ordinals[this.#locals[commit]!]!] = commit
    let at = start === 0 ? 0 : this.#parentEnds[start - 1]!
    let sound = true
    for (let commit = start; commit < end; commit++) {
      for (const reference of graph.parents(this.#locals[commit]!)) {
        const isHere = reference < EXTERNAL_REFERENCE
        const oid = isHere ? index.oidBytes(reference) : graph.externalBytes(reference)
        let parent = isHere ? numbers[reference]! : NO_COMMIT
        if (parent === NO_COMMIT) parent = this.findBytes(oid)
        if (parent === NO_COMMIT) {
          this.#missingParents.set(commit, [...this.missingParents(commit), oidFromBytes(oid)])
          continue
        }
        this.#parents[at++] = parent
        this.#isMixed ||= parent >= end
        sound &&= this.#generations[commit]! > this.#generations[parent]!
      }
      this.#parentEnds[commit] = at
    }
    return sound
  }

  /** A pack that was taken in before the pack of its parents counts its generations from the wrong end. */
  #recomputeGenerations(): void {
    this.#isMixed = true
    const generations = this.#generations.fill(0)
    /** Commits whose parents are being looked at. */
    const open = new Uint8Array(this.size)
    const stack: number[] = []
    for (let commit = 0; commit < this.size; commit++) {
      if (generations[commit] !== 0) continue
      stack.push(commit)
      for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
        open[top] = 1
        let largest = 0
        const depth = stack.length
        for (const parent of this.parents(top)) {
          if (generations[parent] !== 0) largest = Math.max(largest, generations[parent]!)
          else if (open[parent] === 0) stack.push(parent)
          else throw new PackGraphError('a commit is its own ancestor')
        }
        if (stack.length > depth) continue
        generations[top] = largest + 1
        stack.pop()
      }
    }
  }

  #numberOf(pack: number, local: number): number {
    const [start, end] = [this.#starts[pack]!, this.#starts[pack + 1]!]
    if (end - start === this.packs[pack]!.graph.commits) return start + local
    const place = indexOf(this.#locals.subarray(start, end), local)
    return place < 0 ? NO_COMMIT : start + place
  }
}

/** How many of the first packs are the same in both lists. */
function countSame(a: readonly KnownPack[], b: readonly KnownPack[]): number {
  let same = 0
  while (same < a.length && same < b.length && a[same]!.graph === b[same]!.graph) same++
  return same
}

/** The place of `value` in an ascending table, or -1. */
function indexOf(table: Uint32Array, value: number): number {
  let low = 0
  let high = table.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (table[middle]! < value) low = middle + 1
    else high = middle
  }
  return table[low] === value ? low : -1
}

function countParents(graph: PackGraph): number {
  let parents = 0
  for (let commit = 0; commit < graph.commits; commit++) parents += graph.parents(commit).length
  return parents
}

/** The table, which starts with so many values of an older one. */
function grown<T extends Uint32Array | Float64Array>(table: T, older: T | null, kept: number): T {
  if (older !== null) table.set(older.subarray(0, kept))
  return table
}

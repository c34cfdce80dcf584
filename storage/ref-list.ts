import { firstRefFrom, type Named } from '../git/refs/ref-order.ts'
import { isEverything, isNothing, nameRanges, type RefSelection, selectRefs } from '../git/refs/ref-selection.ts'
import type { ManifestRef, RefChange } from './manifest.ts'

/** With more changes than this a list is made anew: they are looked through with each change that comes. */
const CHANGES_KEPT = 500

/**
 * All refs of one version of a manifest: a list, and what has changed since it was made. So the next version, and a few
 * refs of it, cost no copy of the list.
 */
export class RefList {
  /** How many refs are held, those counted twice that have changed. */
  readonly held: number
  #base: Base
  #changes: readonly RefChange[]

  /** @param refs sorted by the bytes of their names */
  static of(refs: readonly ManifestRef[]): RefList {
    return new RefList(new Base(refs), [])
  }

  private constructor(base: Base, changes: readonly RefChange[]) {
    const isFew = changes.length <= CHANGES_KEPT
    this.#base = isFew ? base : new Base(withChanges(base.refs, changes))
    this.#changes = isFew ? changes : []
    this.held = this.#base.refs.length + this.#changes.length
  }

  /** The list of a later version. @param changes sorted by the bytes of the names */
  after(changes: readonly RefChange[]): RefList {
    return new RefList(this.#base, overlay(this.#changes, changes))
  }

  /** The refs of a selection, sorted by the bytes of their names. */
  select(selection: RefSelection): readonly ManifestRef[] {
    if (isNothing(selection)) return []
    if (isEverything(selection)) return this.#all()
    const ranges = nameRanges(selection)
    return withChanges(selectRefs(this.#base.refs, ranges), selectRefs(this.#changes, ranges))
  }

  /** Those that point at a tag object, sorted by the bytes of their names. */
  annotated(): readonly ManifestRef[] {
    return withChanges(this.#base.annotated(), this.#changes).filter(isAnnotated)
  }

  #all(): readonly ManifestRef[] {
    if (this.#changes.length > 0) {
      this.#base = new Base(withChanges(this.#base.refs, this.#changes))
      this.#changes = []
    }
    return this.#base.refs
  }
}

/** The list, which several versions share. */
class Base {
  readonly refs: readonly ManifestRef[]
  #annotated: readonly ManifestRef[] | null = null

  constructor(refs: readonly ManifestRef[]) {
    this.refs = refs
  }

  annotated(): readonly ManifestRef[] {
    this.#annotated ??= this.refs.filter(isAnnotated)
    return this.#annotated
  }
}

function isAnnotated({ peeled }: ManifestRef): boolean {
  return peeled !== null
}

function withChanges(refs: readonly ManifestRef[], changes: readonly RefChange[]): readonly ManifestRef[] {
  if (changes.length === 0) return refs
  return overlay<RefChange>(refs, changes).filter((ref) => ref.target !== null)
}

/** Joins two lists that are sorted by the bytes of their names. Of two of one name it is the one in `over` that counts. */
function overlay<T extends Named>(list: readonly T[], over: readonly T[]): T[] {
  const joined: T[] = []
  let at = 0
  for (const item of over) {
    const place = firstRefFrom(list, item.name, at)
    while (at < place) joined.push(list[at++]!)
    if (list[at]?.name === item.name) at++
    joined.push(item)
  }
  while (at < list.length) joined.push(list[at++]!)
  return joined
}

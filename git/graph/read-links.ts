import { GrowingUint32 } from '../bytes/growing.ts'
import type { BufferHolder } from '../bytes/memory-account.ts'
import { ByteTable } from '../bytes/number-table.ts'
import { OID_BYTES, type Oid, oidFromBytes, oidToBytes } from '../bytes/oid.ts'
import { OidTable } from '../bytes/oid-table.ts'
import { isDirectory, isGitlink } from '../object/file-mode.ts'
import { MalformedObjectError } from '../object/malformed-object-error.ts'
import type { ObjectSource } from '../object/object-source.ts'
import { BLOB, COMMIT, type ObjectType, TREE } from '../object/object-type.ts'
import { TreeReader } from '../object/tree.ts'
import { type CutParts, NO_PART } from '../pack/cut-parts.ts'
import { PackError } from '../pack/entry-header.ts'
import type { PackIndex } from '../pack/pack-index.ts'
import { PackedObjects } from '../pack/packed-objects.ts'
import { LINK_LIMITS, type LinkBatch, type LinkInput, type LinkState, linksLayout, linksName } from './link-files.ts'
import { ObjectLinks, TOLD_FAULTS } from './object-links.ts'
import { describeMistyped, OtherObjects, typeBit } from './other-objects.ts'
import { childIsTree, childNumber, TreeChildren, treeChild } from './tree-children.ts'

/** Objects between two looks at the memory held. */
const CHECKED_EVERY = 1024

/**
 * Reads what the next objects point at, and finds out which entries that is: first every id that is met gets a number of
 * its own, and then these are looked up in all parts, one part's index after the other.
 */
export async function readNextLinks(input: LinkInput, state: LinkState): Promise<LinkState> {
  const { parts, memory, files, limits = LINK_LIMITS } = input
  const start = state.batches.at(-1)?.end ?? 0
  const part = parts.partOf(start)
  const others = memory.enter(await OtherObjects.read(input, state))
  const links = memory.enter(new BatchLinks(start))
  await parts.withIndex(part, memory, (index) => readObjects(input, part, index, links))
  memory.enter(links.lookUp())
  for (const each of parts.parts.keys()) {
    await parts.withIndex(each, memory, (index) => links.find(index, parts.starts[each]!))
  }
  const { batch, file } = links.write(others)
  memory.check(file.byteLength)
  await files.write(linksName(state.batches.length), file)
  const batches = [...state.batches, batch]
  const commits = batches.reduce((sum, each) => sum + each.commits, 0)
  if (commits > limits.commits) {
    throw new PackError(`the pack has more than ${limits.commits} commits; so many cannot be linked`)
  }
  return {
    ...state,
    batches,
    malformed: [...state.malformed, ...links.malformed].slice(0, TOLD_FAULTS),
    mistyped: firstOf([...state.mistyped, ...links.mistyped]),
    ...(await others.write(input, state)),
  }
}

/** Each once, and no more than are told of. */
export function firstOf(faults: readonly string[]): string[] {
  return [...new Set(faults)].slice(0, TOLD_FAULTS)
}

async function readObjects(input: LinkInput, part: number, index: PackIndex, links: BatchLinks): Promise<void> {
  const { parts, memory, onProgress, limits = LINK_LIMITS } = input
  const { data } = parts.parts[part]!
  const bases = await basesOf(input, part, index)
  const objects = memory.enter(new PackedObjects([{ index, data }], { bases }))
  const first = links.start - parts.starts[part]!
  for (let ordinal = first; ordinal < index.entries; ordinal++) {
    if (links.ids >= limits.ids || links.children >= limits.children) break
    if ((ordinal - first) % CHECKED_EVERY === 0) {
      memory.check()
      onProgress?.('objects', parts.starts[part]! + ordinal, parts.entries)
    }
    const type = index.type(ordinal)
    if (type === BLOB) links.add(type, index.oidBytes(ordinal), null)
    else links.add(type, index.oidBytes(ordinal), (await objects.readAt({ pack: 0, ordinal })).bytes)
  }
  memory.leave(objects)
  parts.letGo()
}

/** The objects that a part's deltas stand on and that it does not have. */
async function basesOf({ parts, known }: LinkInput, part: number, index: PackIndex): Promise<ObjectSource> {
  const ids = index.externalBases
  const { bases } = parts.parts[part]!
  const bytes = ids.length === 0 ? ids : await bases.read(0, bases.size)
  const numbers = new Uint32Array(bytes.slice().buffer)
  const table = new OidTable(numbers.length)
  for (let at = 0; at < ids.length; at += OID_BYTES) table.intern(ids, at)
  return new PartBases(parts, known?.objects ?? null, table, numbers)
}

class PartBases implements ObjectSource {
  readonly #parts: CutParts
  readonly #known: ObjectSource | null
  readonly #table: OidTable
  readonly #numbers: Uint32Array

  constructor(parts: CutParts, known: ObjectSource | null, table: OidTable, numbers: Uint32Array) {
    this.#parts = parts
    this.#known = known
    this.#table = table
    this.#numbers = numbers
  }

  async read(oid: Oid) {
    const number = this.#numberOf(oid)
    return number === NO_PART ? ((await this.#known?.read(oid)) ?? null) : this.#parts.read(number)
  }

  async stat(oid: Oid) {
    const number = this.#numberOf(oid)
    return number === NO_PART ? ((await this.#known?.stat(oid)) ?? null) : this.#parts.stat(number)
  }

  #numberOf(oid: Oid): number {
    const place = this.#table.find(oidToBytes(oid))
    return place < 0 ? NO_PART : this.#numbers[place]!
  }
}

/** The links of some entries. Until they are looked up, an object's number is its place in a table of ids. */
class BatchLinks implements BufferHolder {
  readonly start: number
  readonly mistyped: string[] = []
  readonly #malformedTrees: string[] = []
  readonly #ids = new OidTable()
  /** By place: a bit for each type that the object is expected to be of. */
  readonly #expected = new ByteTable(0)
  readonly #links: ObjectLinks
  /** By commit and tag: the place of its own id. */
  readonly #commits = new GrowingUint32()
  readonly #tags = new GrowingUint32()
  readonly #childEnds = new GrowingUint32()
  readonly #children = new GrowingUint32()
  /** By place: the number of the entry. */
  #numbers = new Uint32Array(0)

  constructor(start: number) {
    this.start = start
    this.#links = new ObjectLinks(this.#ids, new TreeChildren(this.#ids, 0))
  }

  get heldBytes(): number {
    const tables = [this.#ids, this.#expected, this.#links, this.#commits, this.#tags, this.#childEnds, this.#children]
    return tables.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  }

  get ids(): number {
    return this.#ids.size
  }

  get children(): number {
    return this.#children.length
  }

  get malformed(): readonly string[] {
    return [...this.#links.malformed, ...this.#malformedTrees]
  }

  get #end(): number {
    return this.start + this.#childEnds.length
  }

  /** @param bytes null for a blob */
  add(type: ObjectType, oid: Uint8Array, bytes: Uint8Array | null): void {
    const number = this.#end
    if (bytes !== null && type === TREE) this.#addTree(oid, bytes)
    else if (bytes !== null) this.#addLinks(number, type, oid, bytes)
    this.#childEnds.push(this.#children.length)
  }

  #addTree(oid: Uint8Array, bytes: Uint8Array): void {
    const before = this.#children.length
    try {
      const entries = new TreeReader(bytes)
      while (entries.next()) {
        // A submodule's commit lives in another repository.
        if (isGitlink(entries.mode)) continue
        this.#children.push(treeChild(this.#ids.intern(bytes, entries.oidAt), isDirectory(entries.mode)))
      }
    } catch (error) {
      if (!(error instanceof MalformedObjectError)) throw error
      this.#children.truncate(before)
      if (this.#malformedTrees.length < TOLD_FAULTS) this.#malformedTrees.push(`${oidFromBytes(oid)}: ${error.message}`)
    }
    for (let at = before; at < this.#children.length; at++) {
      const child = this.#children.at(at)
      this.#expect(childNumber(child), childIsTree(child) ? TREE : BLOB)
    }
  }

  #addLinks(number: number, type: ObjectType, oid: Uint8Array, bytes: Uint8Array): void {
    const { commits, tags } = this.#links
    const [before, tagsBefore] = [commits.length, tags.length]
    this.#links.add(number, type, oid, bytes)
    if (commits.length > before) {
      this.#commits.push(this.#ids.intern(oid))
      this.#expect(commits.trees.at(before), TREE)
      for (const parent of commits.parents(before)) this.#expect(parent, COMMIT)
    } else if (tags.length > tagsBefore) {
      this.#tags.push(this.#ids.intern(oid))
      this.#expect(tags.targets.at(tagsBefore), tags.types.at(tagsBefore) as ObjectType)
    }
  }

  #expect(place: number, type: ObjectType): void {
    this.#expected.set(place, this.#expected.get(place) | typeBit(type))
  }

  /** Nothing is added any more. @returns the table of what is found */
  lookUp(): BufferHolder {
    this.#numbers = new Uint32Array(this.#ids.size).fill(NO_PART)
    return { heldBytes: this.#numbers.byteLength }
  }

  /** Finds those that a part has. The parts are gone through in their order: an object that several have is in the first. */
  find(index: PackIndex, start: number): void {
    const ids = this.#ids.view()
    for (let place = 0; place < this.#numbers.length; place++) {
      if (this.#numbers[place] !== NO_PART) continue
      const ordinal = index.find(ids, place * OID_BYTES)
      if (ordinal < 0) continue
      this.#numbers[place] = start + ordinal
      const expected = this.#expected.get(place)
      if (expected === 0 || this.mistyped.length === TOLD_FAULTS) continue
      const fault = describeMistyped(this.#ids.oidAt(place), index.type(ordinal), expected)
      if (fault !== null) this.mistyped.push(fault)
    }
  }

  /** The file, in which all numbers are those of entries, or of others. */
  write(others: OtherObjects): { batch: LinkBatch; file: Uint8Array } {
    const ids = this.#ids.view()
    for (let place = 0; place < this.#numbers.length; place++) {
      const expected = this.#expected.get(place)
      // Of what could not be read in the end nothing is known.
      if (this.#numbers[place] !== NO_PART || expected === 0) continue
      const number = others.intern(ids, place * OID_BYTES)
      others.expect(number, expected)
      this.#numbers[place] = number
    }
    const { commits, tags } = this.#links
    const isFirst = (number: number, place: number) => this.#numbers[place] === number
    // The same object once more says nothing new.
    const first = [...commits.ordinals.view().keys()].filter((i) =>
      isFirst(commits.ordinals.at(i), this.#commits.at(i)),
    )
    const firstTags = [...tags.ordinals.view().keys()].filter((i) => isFirst(tags.ordinals.at(i), this.#tags.at(i)))
    const parents = first.reduce((sum, i) => sum + commits.parents(i).length, 0)
    const batch: LinkBatch = {
      ...{ start: this.start, end: this.#end, commits: first.length, parents, tags: firstTags.length },
      children: this.#children.length,
    }
    const layout = linksLayout(batch)
    const file = new Uint8Array(layout.byteLength)
    const words = (at: number, length: number) => new Uint32Array(file.buffer, at, length)
    const times = new Float64Array(file.buffer, 0, first.length)
    const [numbers, trees] = [words(layout.commitNumbers, first.length), words(layout.commitTrees, first.length)]
    const [ends, all] = [words(layout.parentEnds, first.length), words(layout.parents, parents)]
    let parent = 0
    for (const [at, i] of first.entries()) {
      times[at] = commits.times.at(i)
      numbers[at] = commits.ordinals.at(i)
      trees[at] = this.#numbers[commits.trees.at(i)]!
      for (const each of commits.parents(i)) all[parent++] = this.#numbers[each]!
      ends[at] = parent
    }
    words(layout.childEnds, this.#childEnds.length).set(this.#childEnds.view())
    const children = words(layout.children, this.#children.length)
    for (let at = 0; at < children.length; at++) {
      const child = this.#children.at(at)
      children[at] = treeChild(this.#numbers[childNumber(child)]!, childIsTree(child))
    }
    words(layout.tagNumbers, firstTags.length).set(firstTags.map((i) => tags.ordinals.at(i)))
    words(layout.tagTargets, firstTags.length).set(firstTags.map((i) => this.#numbers[tags.targets.at(i)]!))
    words(layout.tagTypes, firstTags.length).set(firstTags.map((i) => tags.types.at(i)))
    return { batch, file }
  }
}

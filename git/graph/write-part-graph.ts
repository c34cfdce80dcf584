import { GrowingUint32 } from '../bytes/growing.ts'
import { type BufferHolder, HeldArrays } from '../bytes/memory-account.ts'
import { SparseNumberTable } from '../bytes/number-table.ts'
import { OID_BYTES } from '../bytes/oid.ts'
import { asPackError } from '../pack/as-pack-error.ts'
import {
  type LinkBatch,
  type LinkInput,
  type LinkState,
  linksLayout,
  linksName,
  listsBytes,
  listsName,
  readWords,
} from './link-files.ts'
import { LinkedCommits, otherGeneration } from './linked-commits.ts'
import { OtherObjects } from './other-objects.ts'
import { createPackGraph, EXTERNAL_REFERENCE, packGraphBytes } from './pack-graph.ts'

/** Writes the graph of the next part: its commits, and its share of the lists of all. */
export async function writeNextGraph(input: LinkInput, state: LinkState): Promise<LinkState> {
  const part = state.graphs
  try {
    await input.files.writeGraph(part, await new PartGraph(input, state, part).make())
  } catch (error) {
    throw asPackError(error)
  }
  return { ...state, graphs: part + 1 }
}

class PartGraph {
  readonly #input: LinkInput
  readonly #state: LinkState
  /** Numbers of the part's first entry, and of the one after its last. */
  readonly #start: number
  readonly #end: number

  constructor(input: LinkInput, state: LinkState, part: number) {
    this.#input = input
    this.#state = state
    this.#start = input.parts.starts[part]!
    this.#end = input.parts.starts[part + 1]!
  }

  async make(): Promise<Uint8Array> {
    const { memory } = this.#input
    const others = memory.enter(await OtherObjects.read(this.#input, this.#state))
    const commits = memory.enter(await LinkedCommits.read(this.#input, this.#state))
    const references = memory.enter(new PartReferences(this.#start, this.#end))
    const lists = memory.enter(new PartLists())
    const [first, end] = [commits.countBelow(this.#start), commits.countBelow(this.#end)]
    await this.#readLists(commits, first, end, others, references, lists)
    const tags = await this.#readTags()
    for (let commit = first; commit < end; commit++) {
      references.to(commits.trees[commit]!)
      for (const parent of commits.parents(commit)) references.to(parent)
    }
    for (const target of tags.targets) references.to(target)
    const missing = Uint32Array.from([...others].filter((number) => others.isMissing(number)))
    for (const number of missing) references.to(number)
    const parents = range(first, end).reduce((sum, commit) => sum + commits.parents(commit).length, 0)
    const counts = {
      ...{ commits: end - first, parents, objects: lists.objects.length, tags: tags.numbers.length },
      ...{ missing: missing.length, external: references.externals.length },
      ...{ shares: lists.shareCommits.length, shared: lists.shared.length },
    }
    memory.check(packGraphBytes(counts))
    const { file, tables } = createPackGraph(counts)
    const held = memory.enter(new HeldArrays(file))
    const generations = commits.generations((number) => otherGeneration(this.#input, others, number))
    tables.times.set(await this.#readTimes())
    let parent = 0
    for (const [i, commit] of range(first, end).entries()) {
      tables.ordinals[i] = commits.numbers[commit]! - this.#start
      tables.trees[i] = references.to(commits.trees[commit]!)
      tables.generations[i] = generations[commit]!
      for (const number of commits.parents(commit)) tables.parents[parent++] = references.to(number)
      tables.parentEnds[i] = parent
    }
    tables.objectEnds.set(lists.objectEnds.view())
    tables.objects.set(lists.objects.view())
    for (const [i, number] of tags.numbers.entries()) {
      tables.tagOrdinals[i] = number - this.#start
      tables.tagTargets[i] = references.to(tags.targets[i]!)
      tables.tagTypes[i] = tags.types[i]!
    }
    tables.missing.set(missing.map((number) => references.to(number)))
    tables.shareCommits.set(lists.shareCommits.view())
    tables.shareEnds.set(lists.shareEnds.view())
    tables.shared.set(lists.shared.view())
    await this.#copyIds(references.externals.view(), others, tables.external)
    memory.leave(held)
    return file
  }

  /** Goes through the lists of all commits for the objects that are in the part. */
  async #readLists(
    commits: LinkedCommits,
    first: number,
    end: number,
    others: OtherObjects,
    references: PartReferences,
    lists: PartLists,
  ): Promise<void> {
    const { files, memory } = this.#input
    let commit = 0
    for (const [i, batch] of this.#state.lists.entries()) {
      const size = listsBytes(batch)
      const words = await readWords(files.open(listsName(i), size), 0, size / 4)
      const held = memory.enter(new HeldArrays(words))
      memory.check()
      const listed = words.subarray(batch.commits)
      let at = 0
      for (let place = 0; place < batch.commits; place++, commit++) {
        const isOwn = commit >= first && commit < end
        const before = lists.shared.length
        for (; at < words[place]!; at++) {
          const number = listed[at]!
          const isHere = number >= this.#start && number < this.#end
          if (isOwn && (isHere || (others.has(number) && !others.isMissing(number)))) {
            lists.objects.push(references.to(number))
          } else if (!isOwn && isHere) {
            lists.shared.push(number - this.#start)
          }
        }
        if (isOwn) lists.objectEnds.push(lists.objects.length)
        if (lists.shared.length === before) continue
        lists.shareCommits.push(references.to(commits.numbers[commit]!))
        lists.shareEnds.push(lists.shared.length)
      }
      memory.leave(held)
    }
  }

  async #readTimes(): Promise<Float64Array> {
    const times: number[] = []
    for (const { batch, file } of this.#ownLinks()) {
      const bytes = await file.read(0, 8 * batch.commits)
      for (const time of new Float64Array(bytes.slice().buffer)) times.push(time)
    }
    return Float64Array.from(times)
  }

  async #readTags(): Promise<{ numbers: number[]; targets: number[]; types: number[] }> {
    const all = { numbers: [] as number[], targets: [] as number[], types: [] as number[] }
    for (const { batch, file } of this.#ownLinks()) {
      const words = await readWords(file, linksLayout(batch).tagNumbers, 3 * batch.tags)
      for (let tag = 0; tag < batch.tags; tag++) {
        all.numbers.push(words[tag]!)
        all.targets.push(words[batch.tags + tag]!)
        all.types.push(words[2 * batch.tags + tag]!)
      }
    }
    return all
  }

  /** The files of links of the part's entries: no batch goes over the end of a part. */
  *#ownLinks() {
    const isOwn = ({ start }: LinkBatch) => start >= this.#start && start < this.#end
    for (const [i, batch] of this.#state.batches.entries()) {
      if (isOwn(batch)) yield { batch, file: this.#input.files.open(linksName(i), linksLayout(batch).byteLength) }
    }
  }

  /** The raw ids of objects outside of the part: one part's index after the other. */
  async #copyIds(numbers: Uint32Array, others: OtherObjects, target: Uint8Array): Promise<void> {
    const { parts, memory } = this.#input
    for (const [part, start] of parts.starts.slice(0, -1).entries()) {
      const end = parts.starts[part + 1]!
      if (!numbers.some((number) => number >= start && number < end)) continue
      await parts.withIndex(part, memory, (index) => {
        for (const [place, number] of numbers.entries()) {
          if (number >= start && number < end) target.set(index.oidBytes(number - start), place * OID_BYTES)
        }
      })
    }
    for (const [place, number] of numbers.entries()) {
      if (others.has(number)) target.set(others.bytes(number), place * OID_BYTES)
    }
  }
}

/** What the part has of the lists of commits. */
class PartLists implements BufferHolder {
  readonly objects = new GrowingUint32()
  readonly objectEnds = new GrowingUint32()
  /** As references. */
  readonly shareCommits = new GrowingUint32()
  readonly shareEnds = new GrowingUint32()
  readonly shared = new GrowingUint32()

  get heldBytes(): number {
    const tables = [this.objects, this.objectEnds, this.shareCommits, this.shareEnds, this.shared]
    return tables.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  }
}

/** References of a part's graph file: ordinals of its entries, and places in the list of what is outside of it. */
class PartReferences implements BufferHolder {
  /** Numbers, each once. */
  readonly externals = new GrowingUint32()
  readonly #start: number
  readonly #end: number
  /** By number: the place in the list plus 1. */
  readonly #places = new SparseNumberTable()

  constructor(start: number, end: number) {
    this.#start = start
    this.#end = end
  }

  get heldBytes(): number {
    return this.externals.heldBytes + this.#places.heldBytes
  }

  to(number: number): number {
    if (number >= this.#start && number < this.#end) return number - this.#start
    let place = this.#places.get(number)
    if (place === 0) {
      this.externals.push(number)
      place = this.externals.length
      this.#places.set(number, place)
    }
    return EXTERNAL_REFERENCE + place - 1
  }
}

function range(start: number, end: number): Uint32Array {
  return Uint32Array.from({ length: end - start }, (_, i) => start + i)
}

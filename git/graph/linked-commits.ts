import type { BufferHolder } from '../bytes/memory-account.ts'
import { type LinkInput, type LinkState, linksLayout, linksName, readWords } from './link-files.ts'
import type { OtherObjects } from './other-objects.ts'

/** The commits of all parts, in the order of their numbers: 16 bytes a commit and 4 a parent. */
export class LinkedCommits implements BufferHolder {
  /** By commit: the number of its entry, ascending. */
  readonly numbers: Uint32Array
  readonly trees: Uint32Array
  readonly #parentEnds: Uint32Array
  readonly #parents: Uint32Array

  static async read({ files }: Pick<LinkInput, 'files'>, { batches }: LinkState): Promise<LinkedCommits> {
    const commits = batches.reduce((sum, batch) => sum + batch.commits, 0)
    const parents = batches.reduce((sum, batch) => sum + batch.parents, 0)
    const all = new LinkedCommits(commits, parents)
    let commit = 0
    let parent = 0
    for (const [i, batch] of batches.entries()) {
      if (batch.commits === 0) continue
      const layout = linksLayout(batch)
      const file = files.open(linksName(i), layout.byteLength)
      // The four tables lie one after the other.
      const words = await readWords(file, layout.commitNumbers, 3 * batch.commits + batch.parents)
      const table = (n: number) => words.subarray(n * batch.commits, (n + 1) * batch.commits)
      all.numbers.set(table(0), commit)
      all.trees.set(table(1), commit)
      for (const end of table(2)) all.#parentEnds[commit++] = parent + end
      all.#parents.set(words.subarray(3 * batch.commits), parent)
      parent += batch.parents
    }
    return all
  }

  private constructor(commits: number, parents: number) {
    this.numbers = new Uint32Array(commits)
    this.trees = new Uint32Array(commits)
    this.#parentEnds = new Uint32Array(commits)
    this.#parents = new Uint32Array(parents)
  }

  get length(): number {
    return this.numbers.length
  }

  get heldBytes(): number {
    return 12 * this.length + this.#parents.byteLength
  }

  /** Numbers of a commit's parents, in their order. */
  parents(commit: number): Uint32Array {
    return this.#parents.subarray(commit === 0 ? 0 : this.#parentEnds[commit - 1], this.#parentEnds[commit])
  }

  /** How many commits have a number below. */
  countBelow(number: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.numbers[middle]! < number) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The commit with this number, or -1. */
  find(number: number): number {
    const commit = this.countBelow(number)
    return this.numbers[commit] === number ? commit : -1
  }

  /**
   * By commit: 1 for a root, else 1 + the largest of the parents'.
   *
   * @param ofOther that of a commit that is in no part; 0 if it is nowhere
   */
  generations(ofOther: (number: number) => number): Uint32Array {
    const generations = new Uint32Array(this.length)
    // From the end, where git puts the oldest ones. Without recursion: histories are long.
    const stack: number[] = []
    for (let commit = this.length - 1; commit >= 0; commit--) {
      stack.push(commit)
      for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
        if (generations[top]! > 0) {
          // A commit may be the parent of several, or of one several times.
          stack.pop()
          continue
        }
        let largest = 0
        const before = stack.length
        for (const number of this.parents(top)) {
          const parent = this.find(number)
          if (parent < 0) largest = Math.max(largest, ofOther(number))
          else if (generations[parent]! > 0) largest = Math.max(largest, generations[parent]!)
          else stack.push(parent)
        }
        if (stack.length > before) continue
        generations[top] = largest + 1
        stack.pop()
      }
    }
    return generations
  }
}

/** The generation of a commit that the repository held before, or 0. */
export function otherGeneration({ known }: LinkInput, others: OtherObjects, number: number): number {
  if (known === null || !others.has(number)) return 0
  const commit = known.graph.find(others.oid(number))
  return commit < 0 ? 0 : known.graph.generation(commit)
}

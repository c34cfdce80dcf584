import type { ChangedLines, TextSide } from './changed-lines.ts'

/**
 * Moves changes to where people expect them, where a repeated line leaves a choice: together with another change if
 * they can touch, else beside a change of the other text, else as far down as they go. As git does (xdiff), so that
 * changes of two sides meet in a merge where git's would.
 */
export function compactChanges({ old, new: fresh }: ChangedLines): void {
  compactSide(old, fresh)
  compactSide(fresh, old)
}

function compactSide(side: TextSide, other: TextSide): void {
  const group = new Group(side)
  // The group of the other text that stands between the same common lines.
  const opposite = new Group(other)
  do {
    if (!group.isEmpty) settle(group, opposite)
    opposite.next()
  } while (group.next())
}

function settle(group: Group, opposite: Group): void {
  let length: number
  let highest: number
  let canAlign: boolean
  do {
    length = group.length
    while (group.slideUp()) opposite.previous()
    highest = group.end
    canAlign = !opposite.isEmpty
    while (group.slideDown()) {
      opposite.next()
      if (!opposite.isEmpty) canAlign = true
    }
    // It has met another group on its way: the larger one may go further.
  } while (group.length !== length)
  if (group.end === highest || !canAlign) return
  while (opposite.isEmpty) {
    group.slideUp()
    opposite.previous()
  }
}

/** The changed lines between two lines that are not changed: there may be none. */
class Group {
  start = 0
  end = 0
  readonly #numbers: Uint32Array
  readonly #isChanged: Uint8Array

  constructor({ numbers, isChanged }: TextSide) {
    this.#numbers = numbers
    this.#isChanged = isChanged
    this.#growDown()
  }

  get length(): number {
    return this.end - this.start
  }

  get isEmpty(): boolean {
    return this.start === this.end
  }

  /** Goes to the group after the next common line. @returns false if there is none. */
  next(): boolean {
    if (this.end === this.#numbers.length) return false
    this.start = this.end + 1
    this.end = this.start
    this.#growDown()
    return true
  }

  previous(): void {
    this.end = this.start - 1
    this.start = this.end
    this.#growUp()
  }

  /** Moves the change over the line before it, if that is the same as its last line. @returns whether it was. */
  slideUp(): boolean {
    if (this.start === 0 || this.#numbers[this.start - 1] !== this.#numbers[this.end - 1]) return false
    this.#isChanged[--this.start] = 1
    this.#isChanged[--this.end] = 0
    this.#growUp()
    return true
  }

  /** Moves the change over the line after it, if that is the same as its first line. @returns whether it was. */
  slideDown(): boolean {
    if (this.end === this.#numbers.length || this.#numbers[this.start] !== this.#numbers[this.end]) return false
    this.#isChanged[this.start++] = 0
    this.#isChanged[this.end++] = 1
    this.#growDown()
    return true
  }

  #growUp(): void {
    while (this.start > 0 && this.#isChanged[this.start - 1] === 1) this.start--
  }

  #growDown(): void {
    while (this.#isChanged[this.end] === 1) this.end++
  }
}

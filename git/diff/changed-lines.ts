/** One of two texts that are compared, and which of its lines the other lacks. */
export interface TextSide {
  readonly numbers: Uint32Array
  /** 1 for each line that is changed; 0 also after the last line. */
  readonly isChanged: Uint8Array
}

/** What differs between two texts. Lines that are not changed are, in their order, the same on both sides. */
export interface ChangedLines {
  readonly old: TextSide
  readonly new: TextSide
}

/** A part of both texts. */
export interface LineRange {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** Nothing is marked yet. */
export function createChangedLines(old: Uint32Array, fresh: Uint32Array): ChangedLines {
  return {
    old: { numbers: old, isChanged: new Uint8Array(old.length + 1) },
    new: { numbers: fresh, isChanged: new Uint8Array(fresh.length + 1) },
  }
}

/** Marks all lines of a range. */
export function markChanged(changed: ChangedLines, { oldStart, oldEnd, newStart, newEnd }: LineRange): void {
  changed.old.isChanged.fill(1, oldStart, oldEnd)
  changed.new.isChanged.fill(1, newStart, newEnd)
}

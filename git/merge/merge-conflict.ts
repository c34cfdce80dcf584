import type { PathEntry } from '../walk/tree-path.ts'

/**
 * What two sides cannot agree on:
 * - `content`: both changed lines that touch or overlap
 * - `add/add`: both added the file, with different content
 * - `modify/delete`: one changed what the other deleted
 * - `file/directory`: one has a file where the other has a directory with files
 * - `type`: one has a file where the other has a link or a submodule
 * - `mode`: one added it executable, the other not
 * - `binary`: both changed a file that has NUL in it
 * - `too-large`: both changed a file that is too large to be merged here
 * - `symlink`, `submodule`: both changed where it points
 */
export type ConflictKind =
  | 'content'
  | 'add/add'
  | 'modify/delete'
  | 'file/directory'
  | 'type'
  | 'mode'
  | 'binary'
  | 'too-large'
  | 'symlink'
  | 'submodule'

/** One path on which two sides conflict. */
export interface MergeConflict {
  readonly path: Uint8Array
  readonly kind: ConflictKind
  /** What each has there: null where there is nothing. */
  readonly base: PathEntry | null
  readonly ours: PathEntry | null
  readonly theirs: PathEntry | null
  /** Of a text on which both differ: both sides between markers. */
  readonly merged: Uint8Array | null
}

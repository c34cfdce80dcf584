import type { EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE } from '../object/file-mode.ts'
import { decodeText } from '../object/text.ts'

/** What a file that is written can be: plain, executable, or a symbolic link whose content is its target. */
export type WrittenMode = typeof FILE_MODE | typeof EXECUTABLE_MODE | typeof SYMLINK_MODE

/** One change of a tree. Paths are names joined by single slashes, without one at either end. */
export type TreeEdit = WriteEdit | DeleteEdit | MoveEdit | ModeEdit

/** A file gets this content, whether it is there or not. */
export interface WriteEdit {
  readonly kind: 'write'
  readonly path: Uint8Array
  readonly content: Uint8Array
  /** Default: as it is, and plain for a new file. */
  readonly mode?: WrittenMode
}

/** A file, a submodule, or a directory with all that is in it, goes. */
export interface DeleteEdit {
  readonly kind: 'delete'
  readonly path: Uint8Array
}

/** A file, a submodule or a whole directory moves to a path that is free. */
export interface MoveEdit {
  readonly kind: 'move'
  readonly from: Uint8Array
  readonly path: Uint8Array
  /** Of a file: what it holds from now on. */
  readonly content?: Uint8Array
  /** Of a file. Default: as it is. */
  readonly mode?: WrittenMode
}

/** A file that is there gets this mode. */
export interface ModeEdit {
  readonly kind: 'mode'
  readonly path: Uint8Array
  readonly mode: WrittenMode
}

/**
 * Why a change cannot be made: the path breaks a rule, what is to go is not there, something stands in the way, or
 * two changes contradict each other.
 */
export type TreeEditReason = 'path' | 'missing' | 'conflict' | 'duplicate'

/** A change that cannot be made. The message names the path, and says what to do. */
export class TreeEditError extends Error {
  override name = 'TreeEditError'
  readonly reason: TreeEditReason
  readonly path: Uint8Array

  /** @param problem goes on after the path in quotes */
  constructor(reason: TreeEditReason, path: Uint8Array, problem: string) {
    super(`${quotePath(path)} ${problem}`)
    this.reason = reason
    this.path = path
  }
}

/** Longer paths are cut where they are shown. */
const SHOWN_LENGTH = 200

/** A path as messages show it. */
export function quotePath(path: Uint8Array): string {
  const text = decodeText(path)
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text)
}

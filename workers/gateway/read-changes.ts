import { Buffer } from 'node:buffer'
import { COMMIT_LIMITS } from '../../durable-objects/branch-queue/limits.ts'
import { checkEdits } from '../../git/edit/edit-tree.ts'
import { quotePath, type TreeEdit, TreeEditError, type WrittenMode } from '../../git/edit/tree-edit.ts'
import { EXECUTABLE_MODE, FILE_MODE, formatMode, SYMLINK_MODE } from '../../git/object/file-mode.ts'
import { HttpError } from '../http/http-error.ts'

/** `dev.skein.gateway.defs#change` */
export interface ChangeInput {
  readonly path: string
  readonly content?: string
  readonly encoding?: 'utf-8' | 'base64'
  readonly delete?: boolean
  readonly moveFrom?: string
  readonly mode?: string
}

const MODES = new Map<string, WrittenMode>(
  ([FILE_MODE, EXECUTABLE_MODE, SYMLINK_MODE] as const).map((mode) => [formatMode(mode), mode]),
)
const encoder = new TextEncoder()

/**
 * What a commit is to change. All that is wrong whatever the branch has is said here.
 *
 * @throws {@link HttpError} 422 `InvalidChange`, 413 `PayloadTooLarge`
 */
export function readChanges(changes: readonly ChangeInput[]): TreeEdit[] {
  let total = 0
  const edits = changes.map((change) => {
    const edit = readChange(change)
    total += 'content' in edit ? (edit.content?.length ?? 0) : 0
    if (total > COMMIT_LIMITS.contentBytes) {
      throw tooLarge(`a commit may write at most ${COMMIT_LIMITS.contentBytes} bytes: make several`)
    }
    return edit
  })
  try {
    checkEdits(edits)
  } catch (error) {
    if (error instanceof TreeEditError) throw invalidChange(new TextDecoder().decode(error.path), error.message)
    throw error
  }
  return edits
}

/** The bytes of a path. @throws {@link HttpError} 422 */
export function readPath(text: string): Uint8Array {
  if (!text.isWellFormed()) throw invalidChange(text.toWellFormed(), 'a path has half of a surrogate pair in it')
  return encoder.encode(text)
}

function readChange(change: ChangeInput): TreeEdit {
  const path = readPath(change.path)
  const refuse = (problem: string) => invalidChange(change.path, `${quotePath(path)} ${problem}`)
  if (change.delete === true) {
    if (change.content !== undefined || change.moveFrom !== undefined || change.mode !== undefined) {
      throw refuse('is to be deleted, and so can have no content, moveFrom and mode')
    }
    return { kind: 'delete', path }
  }
  const content = change.content === undefined ? {} : { content: readContent(change, change.content, path) }
  const mode = change.mode === undefined ? {} : { mode: MODES.get(change.mode)! }
  if (change.moveFrom !== undefined) return { kind: 'move', from: readPath(change.moveFrom), path, ...content, ...mode }
  if (content.content !== undefined) return { kind: 'write', path, content: content.content, ...mode }
  if (mode.mode !== undefined) return { kind: 'mode', path, mode: mode.mode }
  throw refuse('has nothing to be done with it: give content, delete, moveFrom or mode')
}

function readContent({ encoding, path: text }: ChangeInput, content: string, path: Uint8Array): Uint8Array {
  const bytes = encoding === 'base64' ? decodeBase64(content) : content.isWellFormed() ? encoder.encode(content) : null
  if (bytes === null) {
    const problem =
      encoding === 'base64' ? 'has content that is no base64' : 'has half of a surrogate pair in its content'
    throw invalidChange(text, `${quotePath(path)} ${problem}`)
  }
  if (bytes.length > COMMIT_LIMITS.fileBytes) {
    throw tooLarge(`${quotePath(path)} has ${bytes.length} bytes, and ${COMMIT_LIMITS.fileBytes} are the most: push it`)
  }
  return bytes
}

/** Lines may be broken, as `base64` does it, and the signs that fill the last group may be missing. */
function decodeBase64(text: string): Uint8Array | null {
  const digits = text.replaceAll(/[\r\n]/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) return null
  const isFilled = digits.endsWith('=')
  const count = digits.length % 4
  return count === 1 || (isFilled && count !== 0) ? null : new Uint8Array(Buffer.from(digits, 'base64'))
}

function invalidChange(path: string, message: string): HttpError {
  return new HttpError(422, 'InvalidChange', message, {}, { path })
}

function tooLarge(message: string): HttpError {
  return new HttpError(413, 'PayloadTooLarge', message)
}

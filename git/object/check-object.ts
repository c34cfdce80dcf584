import { checkTree } from './check-tree.ts'
import { parseCommit } from './commit.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { BLOB, COMMIT, type ObjectType, TREE } from './object-type.ts'
import { parseTag } from './tag.ts'

/**
 * Whether a pushed object may be kept: it must be readable as what it claims to be, and a tree must hold no name that
 * could hurt who checks it out. Odd but readable objects pass, since real histories are full of them.
 *
 * @returns the reason to refuse it, or null.
 */
export function checkObject(type: ObjectType, bytes: Uint8Array): string | null {
  if (type === TREE) return checkTree(bytes)
  if (type === BLOB) return null
  try {
    if (type === COMMIT) parseCommit(bytes)
    else parseTag(bytes)
    return null
  } catch (error) {
    if (error instanceof MalformedObjectError) return error.message
    throw error
  }
}

import { compileGlob } from '../object/glob.ts'
import { isRefName } from './check-ref-format.ts'

/** UTF-16 units: longer than any name that is written by hand. */
const MAX_LENGTH = 255

/**
 * Whether a text is a pattern for short branch names: a name in which `?`, `*` and `**` are as in {@link compileGlob}. A
 * full name (`refs/heads/main`) is none: it would match nothing, and whoever wrote it meant something else.
 */
export function isBranchPattern(pattern: string): boolean {
  if (pattern.length > MAX_LENGTH || pattern.startsWith('refs/')) return false
  return isRefName(`refs/heads/${pattern.replaceAll(/[*?]/g, 'x')}`)
}

/**
 * Whether a pattern means a branch.
 *
 * @param pattern one of {@link isBranchPattern}
 * @param branch short name, `agents/7`
 */
export function matchesBranch(pattern: string, branch: string): boolean {
  return compileGlob(pattern)(branch)
}

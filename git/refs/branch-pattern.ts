import { isRefName } from './check-ref-format.ts'

/** UTF-16 units: longer than any name that is written by hand. */
const MAX_LENGTH = 255

/**
 * Whether a text is a pattern for short branch names: a name in which `?` stands for one character but `/`, `*` for any
 * number of such, and `**` for any characters at all. A full name (`refs/heads/main`) is none: it would match nothing,
 * and whoever wrote it meant something else.
 */
export function isBranchPattern(pattern: string): boolean {
  if (pattern.length > MAX_LENGTH || pattern.startsWith('refs/')) return false
  return isRefName(`refs/heads/${pattern.replaceAll(/[*?]/g, 'x')}`)
}

/**
 * Whether a pattern means a branch.
 *
 * Patterns come from strangers' records, so this is a walk over the states that the pattern can be in: its time is the
 * product of both lengths, whatever the pattern.
 *
 * @param pattern one of {@link isBranchPattern}
 * @param branch short name, `agents/7`
 */
export function matchesBranch(pattern: string, branch: string): boolean {
  const parts = pattern.match(/\*{2,}|./gsu) ?? []
  let states = withEmptyStars(parts, new Set([0]))
  for (const character of branch) {
    const next = new Set<number>()
    for (const at of states) {
      const part = parts[at]
      if (part === undefined) continue
      if (isStar(part)) {
        if (part !== '*' || character !== '/') next.add(at)
      } else if (part === '?' ? character !== '/' : part === character) next.add(at + 1)
    }
    states = withEmptyStars(parts, next)
  }
  return states.has(parts.length)
}

/** A star may stand for nothing. */
function withEmptyStars(parts: readonly string[], states: Set<number>): Set<number> {
  // A set that grows while it is walked over is walked over to its new end.
  for (const at of states) if (isStar(parts[at])) states.add(at + 1)
  return states
}

function isStar(part: string | undefined): boolean {
  return part?.startsWith('*') ?? false
}

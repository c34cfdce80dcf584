/**
 * A pattern for names with slashes in them: `?` stands for one character but `/`, `*` for any number of such, and `**`
 * for any characters at all.
 *
 * Patterns come from strangers, so this is a walk over the states that the pattern can be in: its time is the product of
 * both lengths, whatever the pattern.
 */
export function compileGlob(pattern: string): (name: string) => boolean {
  const parts = pattern.match(/\*{2,}|./gsu) ?? []
  return (name) => matches(parts, name)
}

/** How many states a pattern can be in at once: so many comparisons each character of a name takes at most. */
export function maxStatesOf(pattern: string): number {
  // Each star goes on, and what follows it may begin; before the first there is one.
  return 1 + 2 * (pattern.match(/\*+/g)?.length ?? 0)
}

function matches(parts: readonly string[], name: string): boolean {
  let states = withEmptyStars(parts, new Set([0]))
  for (const character of name) {
    const next = new Set<number>()
    for (const at of states) {
      const part = parts[at]
      if (part === undefined) continue
      if (isStar(part)) {
        if (part !== '*' || character !== '/') next.add(at)
      } else if (part === '?' ? character !== '/' : part === character) next.add(at + 1)
    }
    if (next.size === 0) return false
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

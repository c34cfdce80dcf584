/**
 * Finds paths by letters that stand in them in this order, as editors do: `gitref` finds `git/refs/ref-order.ts`. Letters of
 * either case are alike.
 */
export function rankPaths(paths: readonly string[], query: string, limit: number): string[] {
  const letters = query.toLowerCase().replace(/\s+/g, '')
  if (letters === '') return []
  const ranked: { readonly path: string; readonly score: number }[] = []
  for (const path of paths) {
    const score = scoreOf(path, letters)
    if (score !== null) ranked.push({ path, score })
  }
  return ranked
    .sort((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path)
}

/** What counts for a path: that the file's name has the letters, together, at the start of a word. */
const IN_NAME = 40
const TOGETHER = 60
const AT_START = 30
const NEXT = 3

/** Null: the letters are not in it. */
function scoreOf(path: string, letters: string): number | null {
  const text = path.toLowerCase()
  const nameAt = text.lastIndexOf('/') + 1
  const whole = text.indexOf(letters, nameAt)
  const anywhere = whole === -1 ? text.indexOf(letters) : whole
  if (anywhere !== -1) {
    const isWordStart = anywhere === 0 || !/[\p{L}\p{N}]/u.test(text[anywhere - 1]!)
    return TOGETHER + letters.length * NEXT + (whole === -1 ? 0 : IN_NAME) + (isWordStart ? AT_START : 0)
  }
  // From the end, so that the name is what is matched first.
  let score = 0
  let at = text.length
  let after = -1
  for (let i = letters.length - 1; i >= 0; i--) {
    at = text.lastIndexOf(letters[i]!, at - 1)
    if (at === -1 || (at === 0 && i > 0)) return null
    if (at + 1 === after) score += NEXT
    after = at
  }
  return score + (at >= nameAt ? IN_NAME : 0)
}

/** Where a short name may stand, git's `ref_rev_parse_rules`. */
const RULES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `refs/${name}`,
  (name) => `refs/tags/${name}`,
  (name) => `refs/heads/${name}`,
  (name) => `refs/remotes/${name}`,
  (name) => `refs/remotes/${name}/HEAD`,
]

/** The full names that a short or full name may stand for, in the order in which git prefers them. */
export function expandName(name: string): string[] {
  return RULES.map((rule) => rule(name))
}

/** The refs that a short or full name may mean, in the order in which git prefers them. */
export function expandRef<T>(name: string, refs: ReadonlyMap<string, T>): T[] {
  return expandName(name).flatMap((fullName) => {
    const ref = refs.get(fullName)
    return ref === undefined ? [] : [ref]
  })
}

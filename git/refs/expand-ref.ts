/** Where a short name may stand, git's `ref_rev_parse_rules`. */
const RULES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `refs/${name}`,
  (name) => `refs/tags/${name}`,
  (name) => `refs/heads/${name}`,
  (name) => `refs/remotes/${name}`,
  (name) => `refs/remotes/${name}/HEAD`,
]

/** The refs that a short or full name may mean, in the order in which git prefers them. */
export function expandRef<T>(name: string, refs: ReadonlyMap<string, T>): T[] {
  return RULES.flatMap((rule) => {
    const ref = refs.get(rule(name))
    return ref === undefined ? [] : [ref]
  })
}

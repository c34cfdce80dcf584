import type { RefSelection } from './ref-selection.ts'

/**
 * Names of refs, ready for the question whether another one fits beside them: git keeps refs as files, so `a` and `a/b`
 * cannot both exist.
 */
export class RefNames {
  readonly #names = new Set<string>()
  /** How many names lie below each directory. */
  readonly #directories = new Map<string, number>()

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  add(name: string): void {
    if (this.#names.has(name)) return
    this.#names.add(name)
    for (const directory of directoriesOf(name)) {
      this.#directories.set(directory, (this.#directories.get(directory) ?? 0) + 1)
    }
  }

  delete(name: string): void {
    if (!this.#names.delete(name)) return
    for (const directory of directoriesOf(name)) {
      const left = this.#directories.get(directory)! - 1
      if (left === 0) this.#directories.delete(directory)
      else this.#directories.set(directory, left)
    }
  }

  /** A name that stands in the way of `name`, or null. */
  conflictWith(name: string): string | null {
    for (const directory of directoriesOf(name)) if (this.#names.has(directory)) return directory
    if (!this.#directories.has(name)) return null
    for (const other of this.#names) if (other.startsWith(`${name}/`)) return other
    return null
  }
}

/** The refs of these names, and those that can stand in the way of them: all that {@link RefNames} needs to judge them. */
export function withConflicts(names: readonly string[]): RefSelection {
  const above = names.flatMap((name) => [...directoriesOf(name)])
  return { names: [...new Set([...names, ...above])], prefixes: names.map((name) => `${name}/`) }
}

/** `refs/heads/a/b` lies in `refs/heads/a`, `refs/heads` and `refs`. */
function* directoriesOf(name: string): Generator<string, void, undefined> {
  for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) yield name.slice(0, end)
}

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

/** `refs/heads/a/b` lies in `refs/heads/a`, `refs/heads` and `refs`. */
function* directoriesOf(name: string): Generator<string, void, undefined> {
  for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) yield name.slice(0, end)
}

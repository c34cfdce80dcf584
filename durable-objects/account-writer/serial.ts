/** Runs tasks with the same key one after the other, in the order in which they came. */
export class Serial {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const done = Promise.withResolvers<void>()
    this.#last.set(key, done.promise)
    await before
    try {
      return await task()
    } finally {
      if (this.#last.get(key) === done.promise) this.#last.delete(key)
      done.resolve()
    }
  }
}

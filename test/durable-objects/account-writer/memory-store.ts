import type { AccountStore } from '../../../durable-objects/account-writer/session-keeper.ts'

/** A Durable Object's storage in memory: values are copied in and out, as they are there. */
export class MemoryStore implements AccountStore {
  readonly #values = new Map<string, unknown>()

  async get<T>(key: string): Promise<T | undefined> {
    return structuredClone(this.#values.get(key)) as T | undefined
  }

  async put<T>(key: string, value: T): Promise<void> {
    this.#values.set(key, structuredClone(value))
  }

  /** All of it, as one would find it on the disk. */
  dump(): string {
    return JSON.stringify([...this.#values])
  }
}

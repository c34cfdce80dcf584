const MEBIBYTE = 1024 * 1024

/** What a request may hold in buffers, in bytes: half of what a Worker has for all that it does at once. */
export const REQUEST_MEMORY = 64 * MEBIBYTE

/** Something that holds buffers. */
export interface BufferHolder {
  /** Bytes of the buffers that it holds now, used or not. */
  readonly heldBytes: number
  /** Gives up what can be had otherwise, if slower. */
  letGo?(): void
}

/** Arrays that are held for as long as the holder is entered. Of views the whole buffer counts. */
export class HeldArrays implements BufferHolder {
  readonly heldBytes: number

  constructor(...arrays: readonly ArrayBufferView[]) {
    this.heldBytes = arrays.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)
  }
}

/** The work takes more memory than it may. */
export class MemoryLimitError extends Error {
  override name = 'MemoryLimitError'

  constructor(held: number, limit: number) {
    super(`${Math.ceil(held / MEBIBYTE)} MiB of buffers are needed; the limit is ${Math.floor(limit / MEBIBYTE)} MiB`)
  }
}

/**
 * One account of the buffers that a piece of work holds. Those who hold some are asked, so that nobody can forget to give
 * back; whoever moves the work on has it added up from time to time. Where it is too much, caches are let go, in the
 * order in which they were entered.
 *
 * Indexes and graphs that an isolate keeps for all requests are not in it: they have a bound of their own.
 */
export class MemoryAccount {
  readonly #limit: number
  readonly #holders: BufferHolder[] = []
  #peak = 0

  /** @param limit in bytes */
  constructor(limit = REQUEST_MEMORY) {
    this.#limit = limit
  }

  /** The most that was held when it was added up, in bytes. */
  get peak(): number {
    return this.#peak
  }

  get held(): number {
    return this.#holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  }

  /** Enters a holder, until it leaves or as long as the account lasts. @returns the holder */
  enter<T extends BufferHolder>(holder: T): T {
    this.#holders.push(holder)
    return holder
  }

  /** Its buffers are given back, or somebody else answers for them. One that has not been entered makes no difference. */
  leave(holder: BufferHolder): void {
    const place = this.#holders.indexOf(holder)
    if (place >= 0) this.#holders.splice(place, 1)
  }

  /**
   * Adds up what is held, and has caches let go where it is too much.
   *
   * @param passing bytes that are about to be taken for a moment, beside what the holders hold
   * @throws {@link MemoryLimitError} if it still is too much
   */
  check(passing = 0): void {
    let held = this.held + passing
    for (const holder of this.#holders) {
      if (held <= this.#limit) break
      holder.letGo?.()
      held = this.held + passing
    }
    this.#peak = Math.max(this.#peak, held)
    if (held > this.#limit) throw new MemoryLimitError(held, this.#limit)
  }
}

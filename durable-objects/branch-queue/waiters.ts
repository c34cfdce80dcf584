/** Somebody who waits for what becomes of work. */
interface Waiter {
  /** Until when, in milliseconds since 1970. */
  readonly until: number
  readonly wake: () => void
}

/** Those who wait, by what they wait for. Each is woken once: when it is told, when nothing will come in time, or when its time is over. */
export class Waiters {
  readonly #waiting = new Map<string, Set<Waiter>>()

  /** @param milliseconds how long to wait at most */
  wait(ticket: string, milliseconds: number): Promise<void> {
    if (milliseconds <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter = { until: Date.now() + milliseconds, wake: () => end() }
      const timer = setTimeout(() => end(), milliseconds)
      const all = this.#waiting.get(ticket) ?? new Set()
      const end = () => {
        clearTimeout(timer)
        all.delete(waiter)
        if (all.size === 0) this.#waiting.delete(ticket)
        resolve()
      }
      all.add(waiter)
      this.#waiting.set(ticket, all)
    })
  }

  /** It is known what has become of these. */
  tell(tickets: readonly string[]): void {
    for (const ticket of tickets) for (const { wake } of [...(this.#waiting.get(ticket) ?? [])]) wake()
  }

  /** Nothing will happen before a time, in milliseconds since 1970: who would be gone by then need not wait for it. */
  release(time: number): void {
    for (const all of [...this.#waiting.values()]) for (const { until, wake } of [...all]) if (until <= time) wake()
  }
}

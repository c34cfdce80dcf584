import { PdsBudgetError } from './pds-error.ts'

/**
 * Keeps the requests to each host below what the host allows: the reference PDS takes 3,000 in 5 minutes from an IP
 * address, and every Worker shares Cloudflare's. What is left is read from the `ratelimit-*` headers of its answers.
 *
 * A host has several limits, some by account or by method, and shows the tightest that a request counted for. So what is
 * known is kept by policy and by the scope that the caller names.
 */

export interface HostBudgetOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number
  readonly sleep?: (milliseconds: number) => Promise<void>
  /** Longest that a request waits for its turn before it fails instead, in milliseconds. Default 2,000. */
  readonly maxWait?: number
}

/** When less than this share of a limit is left, requests are spread over what is left of its window. */
const SPREAD_BELOW = 0.1
const DEFAULT_MAX_WAIT = 2_000
/** Hosts whose limits are kept in memory. */
const MAX_HOSTS = 1_000

interface Limit {
  readonly scope: string
  readonly limit: number
  remaining: number
  /** Milliseconds since 1970. */
  readonly resetAt: number
}

export class HostBudget {
  readonly #hosts = new Map<string, Map<string, Limit>>()
  readonly #now: () => number
  readonly #sleep: (milliseconds: number) => Promise<void>
  readonly #maxWait: number

  constructor(options: HostBudgetOptions = {}) {
    this.#now = options.now ?? Date.now
    this.#sleep = options.sleep ?? ((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)))
    this.#maxWait = options.maxWait ?? DEFAULT_MAX_WAIT
  }

  /**
   * Takes one request to the host, waiting a little where few are left.
   *
   * @param scope the method and account that it counts for, or one word for all anonymous reads: only limits that answers
   *   in the same scope have shown are considered
   * @throws {@link PdsBudgetError} where none is left for longer than the longest wait
   */
  async take(host: string, scope: string): Promise<void> {
    const now = this.#now()
    let wait = 0
    for (const limit of this.#limits(host, scope)) {
      if (limit.resetAt <= now) continue
      const left = limit.resetAt - now
      if (limit.remaining < 1) {
        if (left > this.#maxWait) throw new PdsBudgetError(host, new Date(limit.resetAt), Math.ceil(left / 1000))
        wait = Math.max(wait, left)
      } else if (limit.remaining < limit.limit * SPREAD_BELOW) {
        wait = Math.max(wait, Math.min(left / limit.remaining, this.#maxWait))
      }
      limit.remaining--
    }
    if (wait > 0) await this.#sleep(wait)
  }

  /** Learns from an answer. */
  note(host: string, scope: string, response: { readonly status: number; readonly headers: Headers }): void {
    const { headers } = response
    const limit = readNumber(headers, 'ratelimit-limit')
    const remaining = readNumber(headers, 'ratelimit-remaining')
    const reset = readNumber(headers, 'ratelimit-reset')
    if (limit === null || remaining === null || reset === null) return
    const now = this.#now()
    // The reference PDS sends the second since 1970, the IETF draft means seconds from now.
    const resetAt = reset > 1e9 ? reset * 1000 : now + reset * 1000
    const known = this.#hosts.get(host) ?? new Map<string, Limit>()
    this.#hosts.delete(host)
    this.#hosts.set(host, known)
    if (this.#hosts.size > MAX_HOSTS) this.#hosts.delete(this.#hosts.keys().next().value!)
    for (const [key, { resetAt: end }] of known) if (end <= now) known.delete(key)
    known.set(`${headers.get('ratelimit-policy') ?? limit} ${scope}`, {
      scope,
      limit,
      remaining: response.status === 429 ? 0 : remaining,
      resetAt,
    })
  }

  #limits(host: string, scope: string): Limit[] {
    return [...(this.#hosts.get(host)?.values() ?? [])].filter((limit) => limit.scope === scope)
  }
}

function readNumber(headers: Headers, name: string): number | null {
  const text = headers.get(name)?.trim() ?? ''
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null
}

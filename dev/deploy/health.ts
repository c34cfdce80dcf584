import { setTimeout } from 'node:timers/promises'
import { DeployError } from './wrangler.ts'

const PAUSE_MILLISECONDS = 3_000
const TIMEOUT_MILLISECONDS = 10_000

/**
 * Where the edge is now, of what `wrangler deploy` has written about it: its own domain before a workers.dev address.
 *
 * @param targets as `git.example.com (custom domain)`, `https://skein.example.workers.dev` or `schedule: 37 4 * * *`
 */
export function addressOf(targets: readonly string[]): string | null {
  const domain = targets.map((target) => /^([^\s/]+) \(custom domain/.exec(target)?.[1]).find(Boolean)
  return domain === undefined ? (targets.find((target) => /^https?:/.test(target)) ?? null) : `https://${domain}`
}

/**
 * Asks the edge how it is until it is well: a new domain has its certificate after minutes, and upstreams are followed some
 * seconds after the first request.
 *
 * @param patience milliseconds after which it is not asked again
 * @returns what it has answered
 * @throws {@link DeployError} where it is not well
 */
export async function checkHealth(address: string, patience: number): Promise<string> {
  for (const end = Date.now() + patience; ; ) {
    const { status, text } = await ask(`${address}/health`)
    if (status === 200) return text
    if (Date.now() + PAUSE_MILLISECONDS > end)
      throw new DeployError(
        `${address}/health ${status === null ? 'does not answer' : `answers ${status}`}: ${text}\n` +
          'What is deployed is there. npx wrangler tail shows its log, npx wrangler rollback brings the one before back.',
      )
    await setTimeout(PAUSE_MILLISECONDS)
  }
}

async function ask(url: string): Promise<{ status: number | null; text: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS), redirect: 'error' })
    return { status: response.status, text: (await response.text()).trim() }
  } catch (error) {
    const { message, cause } = error as Error
    return { status: null, text: cause instanceof Error ? cause.message : message }
  }
}

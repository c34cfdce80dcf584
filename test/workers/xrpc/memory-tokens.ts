import type { Token } from '../../../storage/access/token-store.ts'
import type { XrpcDeps } from '../../../workers/xrpc/deps.ts'

/** Tokens in memory, with a bound of so many. */
export class MemoryTokens {
  readonly all: { token: Token; text: string }[] = []
  readonly #most: number

  constructor(most = 3) {
    this.#most = most
  }

  async create(token: Token, text: string): Promise<boolean> {
    if (this.all.length === this.#most) return false
    this.all.push({ token, text })
    return true
  }

  async list(did: string): Promise<Token[]> {
    return this.all.flatMap(({ token }) => (token.did === did ? [token] : []))
  }

  async revoke(did: string, id: string, now: number): Promise<Token | null> {
    const found = this.all.find(({ token }) => token.did === did && token.id === id)
    if (found === undefined) return null
    found.token = { ...found.token, revokedAt: found.token.revokedAt ?? now }
    return found.token
  }
}

/** For tests that have nothing to do with tokens. */
export const NO_TOKENS: Pick<XrpcDeps, 'requireOwner' | 'tokens'> = {
  requireOwner: () => Promise.reject(new Error('not in this test')),
  tokens: new MemoryTokens(0),
}

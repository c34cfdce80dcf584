import { expect } from 'vitest'
import type { Account } from '../../../dev/atmosphere.ts'
import type { World } from '../harness.ts'
import { callMethod, callTokens } from '../token-calls.ts'
import { basicAuth } from '../wire.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into what is answered
export type Json = any

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

/** A file that a commit writes. */
export interface Change {
  readonly path: string
  readonly content?: string
  readonly encoding?: 'base64'
  readonly delete?: true
  readonly moveFrom?: string
  readonly mode?: string
}

/** An agent: it has a token, and neither git nor an account. */
export class GatewayClient {
  readonly #edge: string
  readonly repo: string
  readonly #credentials: string

  constructor(edge: string, repo: string, credentials: string) {
    this.#edge = edge
    this.repo = repo
    this.#credentials = credentials
  }

  /** The same with other credentials, or for another repository. */
  with({ repo = this.repo, credentials = this.#credentials }): GatewayClient {
    return new GatewayClient(this.#edge, repo, credentials)
  }

  /** Calls a procedure of the gateway; whatever it answers. */
  async post(method: string, input: object): Promise<Answer> {
    const response = await fetch(`${this.#edge}/xrpc/dev.skein.gateway.${method}`, {
      method: 'POST',
      headers: { Authorization: this.#credentials, 'Content-Type': 'application/json' },
      body: JSON.stringify({ repo: this.repo, ...input }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  async get(method: string, params: Record<string, string>): Promise<Answer> {
    const search = new URLSearchParams({ repo: this.repo, ...params })
    const response = await fetch(`${this.#edge}/xrpc/dev.skein.gateway.${method}?${search}`, {
      headers: { Authorization: this.#credentials },
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  /** Commits to `main`; whatever is answered. */
  commit(message: string, changes: readonly Change[], input: object = {}): Promise<Answer> {
    return this.post('commit', { branch: 'main', message, changes, ...input })
  }

  /** The same for a commit that must land. */
  async land(message: string, changes: readonly Change[], input: object = {}): Promise<Json> {
    return landed(await this.commit(message, changes, input))
  }

  /** Asks what became of a ticket until it is something. */
  async landing(ticket: string, branch = 'main'): Promise<Answer> {
    for (;;) {
      const answer = await this.get('getLanding', { branch, ticket, wait: 'true' })
      if (answer.status !== 202) return answer
    }
  }
}

export function landed({ status, body }: Answer): Json {
  expect({ status, body }).toMatchObject({ status: 200, body: { state: 'landed' } })
  return body
}

/** A file of text at a path. */
export const write = (path: string, content: string): Change => ({ path, content })

/** An agent with a token of the account's, which has all rights unless the grant says otherwise. */
export async function createAgent(
  world: World,
  owner: Account,
  repository: string,
  grant: object = {},
): Promise<GatewayClient> {
  const { token } = await createToken(world, owner, grant)
  return new GatewayClient(world.edge.url, `${owner.handle}/${repository}`, `Bearer ${token}`)
}

/** A token of the account's, with all rights unless the grant says otherwise. */
export async function createToken({ edge }: World, owner: Account, grant: object = {}): Promise<{ token: string }> {
  const rights = ['read', 'commit', 'branch', 'merge']
  const { status, body } = await callTokens(edge, basicAuth(owner), 'create', { label: 'Agent 7', rights, ...grant })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** An empty repository. */
export async function createRepository({ edge }: World, owner: Account, name: string): Promise<void> {
  const { status, body } = await callMethod(edge, basicAuth(owner), 'dev.skein.repo.create', { name })
  expect(status, JSON.stringify(body)).toBe(200)
}

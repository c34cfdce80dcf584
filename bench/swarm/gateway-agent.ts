import type { Account } from '../../dev/atmosphere.ts'
import { type Answer, Connection } from './connection.ts'

/** An agent that commits through the gateway: it has a token of its own, and one connection. */
export class GatewayAgent {
  readonly connection: Connection
  readonly token: string

  constructor(edgeUrl: string, token: string) {
    this.connection = new Connection(edgeUrl)
    this.token = token
  }

  /** Whatever is answered. */
  async call(method: string, input: object): Promise<Answer> {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' }
    return this.connection.send(`/xrpc/dev.skein.gateway.${method}`, headers, JSON.stringify(input))
  }

  /** Commits one file, and waits until it has landed. @throws where it has not */
  async land(repo: string, branch: string, path: string, content: string, message: string): Promise<Landed> {
    const answer = await this.call('commit', { repo, branch, message, changes: [{ path, content }] })
    if (answer.status !== 200) throw new Error(`a commit was answered ${answer.status}: ${answer.body}`)
    return JSON.parse(answer.body.toString()) as Landed
  }
}

/** What is answered for a commit that has landed, as far as it is needed. */
export interface Landed {
  readonly commit: string
  readonly landing: { readonly id: string; readonly commits: number }
}

/** Agents of an account, each with a token of its own: what limits a token limits none of the others. */
export function startAgents(edgeUrl: string, account: Account, count: number): Promise<GatewayAgent[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      return new GatewayAgent(edgeUrl, await createToken(edgeUrl, account, `agent ${n}`))
    }),
  )
}

async function createToken(edgeUrl: string, { handle, password }: Account, label: string): Promise<string> {
  const response = await fetch(`${edgeUrl}/xrpc/dev.skein.token.create`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${handle}:${password}`)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ label, rights: ['read', 'commit', 'branch', 'merge'] }),
  })
  if (!response.ok) throw new Error(`no token: ${await response.text()}`)
  return ((await response.json()) as { token: string }).token
}

import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly retryAfterSeconds: number | null
  readonly body: Buffer
}

/** One client's connection to the edge, which is kept: its requests go one after the other. */
export class Connection {
  readonly #origin: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(origin: string) {
    this.#origin = origin
  }

  /** @throws what Node throws where the connection breaks */
  async send(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body: Uint8Array | string | null = null,
  ): Promise<Answer> {
    const sent = request(`${this.#origin}${path}`, {
      agent: this.#agent,
      method: body === null ? 'GET' : 'POST',
      headers: body === null ? headers : { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
    })
    sent.end(body ?? undefined)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
    const retryAfter = answer.headers['retry-after']
    return {
      status: answer.statusCode ?? 0,
      retryAfterSeconds: retryAfter === undefined ? null : Number(retryAfter),
      body: Buffer.concat(chunks),
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

export interface DrainOptions {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Makes a request, and drops the body of the answer as it comes. @throws for any status but 200 */
export async function drain(url: string, options: DrainOptions = {}): Promise<{ bytes: number }> {
  const { method = 'GET', headers = {}, body = new Uint8Array(0) } = options
  const asked = request(url, { method, headers: { ...headers, 'Content-Length': String(body.length) } })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) bytes += chunk.length
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
  return { bytes }
}

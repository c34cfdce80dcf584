import { HttpError, invalidRequest } from './http-error.ts'

/**
 * Reads a body that must be JSON.
 *
 * @throws {@link HttpError} 400 for another content type and for what is no JSON, 413 for more than `maxBytes`
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get('Content-Type') ?? '')) {
    throw invalidRequest('the body must be JSON, and its Content-Type application/json')
  }
  const text = await readText(request.body, maxBytes)
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidRequest('the body is no JSON')
    throw error
  }
}

async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new HttpError(413, 'PayloadTooLarge', `the body is over ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

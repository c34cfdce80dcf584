/** The edge refuses a call, or cannot be reached: in words for the operator. */
export class CallError extends Error {
  override readonly name = 'CallError'
}

/** How an operator's method is called at one edge. */
export type CallMethod = (nsid: string, given: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>

/** Calls an edge's operator methods. @param edge its origin. @param token its `OPERATOR_TOKEN` */
export function edgeCaller(
  edge: string,
  token: string,
): { readonly query: CallMethod; readonly procedure: CallMethod } {
  const origin = edge.replace(/\/+$/, '')
  const authorization = { authorization: `Bearer ${token}` }
  return {
    query(nsid, given) {
      const params = new URLSearchParams()
      for (const [name, value] of Object.entries(given)) if (value !== undefined) params.set(name, String(value))
      return answerOf(`${origin}/xrpc/${nsid}?${params}`, { headers: authorization })
    },
    procedure: (nsid, given) =>
      answerOf(`${origin}/xrpc/${nsid}`, {
        method: 'POST',
        headers: { ...authorization, 'content-type': 'application/json' },
        body: JSON.stringify(given),
      }),
  }
}

/** @throws {@link CallError} */
async function answerOf(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (error) {
    const { message, cause } = error as Error
    throw new CallError(`${new URL(url).origin} cannot be reached: ${cause instanceof Error ? cause.message : message}`)
  }
  const text = await response.text()
  const answer = parsed(text)
  if (response.ok && answer !== null) return answer
  const { error = `HTTP ${response.status}`, message = text.trim().slice(0, 500) } = answer ?? {}
  throw new CallError(`${error}: ${message}`)
}

/** Null: it is no JSON object, so it is not from an edge's method. */
function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

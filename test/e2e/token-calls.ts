/** Calls of the methods that manage tokens, as a program makes them. */

export interface TokenAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: an answer, which the test looks into
  readonly body: any
}

/** @param authorization the header */
export async function callTokens(
  edge: { readonly url: string },
  authorization: string,
  method: 'create' | 'list' | 'revoke',
  input?: object,
): Promise<TokenAnswer> {
  return callMethod(edge, authorization, `dev.skein.token.${method}`, input)
}

/** @param input of a procedure; absent: it is a query */
export async function callMethod(
  edge: { readonly url: string },
  authorization: string,
  nsid: string,
  input?: object,
): Promise<TokenAnswer> {
  const response = await fetch(`${edge.url}/xrpc/${nsid}`, {
    method: input === undefined ? 'GET' : 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    ...(input === undefined ? {} : { body: JSON.stringify(input) }),
  })
  return { status: response.status, body: await response.json() }
}

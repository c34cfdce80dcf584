import type { IRequest } from 'itty-router'
import { httpErrorFrom } from './http/error-from.ts'
import { HttpError } from './http/http-error.ts'
import type { RequestContext } from './request-context.ts'

type Page = (request: IRequest, context: RequestContext) => Promise<string>

/** Plain text, whatever is asked for. */
export function textPage(page: Page) {
  return async (request: IRequest, context: RequestContext): Promise<Response> => {
    try {
      return text(200, await page(request, context))
    } catch (error) {
      const { status, message, headers } = httpErrorFrom(error)
      return text(status, `${message}\n`, headers)
    }
  }
}

export async function nothingHere(request: IRequest): Promise<string> {
  const { origin, pathname } = new URL(request.url)
  throw new HttpError(
    404,
    'NotFound',
    `there is nothing at ${pathname}; to clone: git clone ${origin}/<handle>/<repository>`,
  )
}

function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, {
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept',
    },
  })
}

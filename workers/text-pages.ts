import type { IRequest } from 'itty-router'
import { httpErrorFrom } from './http/error-from.ts'
import { HttpError } from './http/http-error.ts'
import { percentDecodeText } from './http/percent.ts'
import { redirectMoved } from './http/redirect-moved.ts'
import type { RequestContext } from './request-context.ts'

type Page = (request: IRequest, context: RequestContext) => Promise<string>

/** Pages for whoever does not ask for HTML, as curl and agents: plain text that says what is here. */
export function textPage(page: Page) {
  return async (request: IRequest, context: RequestContext): Promise<Response> => {
    try {
      return text(200, await page(request, context))
    } catch (error) {
      const moved = redirectMoved(error, request as unknown as Request)
      if (moved !== null) return moved
      const { status, message, headers } = httpErrorFrom(error)
      return text(status, `${message}\n`, headers)
    }
  }
}

export async function home(request: IRequest): Promise<string> {
  const { origin } = new URL(request.url)
  return `Skein: git that lives in your Atmosphere account, served from the edge.

Clone a repository:   git clone ${origin}/<handle>/<repository>
Push to your account: git push ${origin}/<your handle>/<repository> main
                      (user name: your handle; password: an app password)
Repositories of one:  curl ${origin}/<handle>
For agents:           curl ${origin}/llms.txt
`
}

/** The repositories of an account. */
export async function accountPage(request: IRequest, context: RequestContext): Promise<string> {
  const { origin } = new URL(request.url)
  const actor = percentDecodeText(request.params.actor!)
  const identity = await context.resolveActor(actor)
  const repositories = await context.listRepositories(identity)
  if (repositories.length === 0) return `${actor} has no repositories here yet.\n`
  const lines = repositories.map(({ record }) => {
    const about = record.description === undefined ? '' : `  ${record.description.replace(/\s+/g, ' ')}\n`
    return `${record.name}\n${about}  git clone ${origin}/${identity.handle ?? identity.did}/${record.name}\n`
  })
  return `${actor} (${identity.did})\n\n${lines.join('\n')}`
}

/** How to clone a repository and where its files are. */
export async function repositoryPage(request: IRequest, context: RequestContext): Promise<string> {
  const { origin } = new URL(request.url)
  const name = percentDecodeText(request.params.repository!).replace(/\.git$/, '')
  const located = await context.locate(percentDecodeText(request.params.actor!), name)
  await context.requireServed(located)
  const { identity, entry } = located
  const { record } = entry
  const url = `${origin}/${identity.handle ?? identity.did}/${record.name}`
  return `${record.name}${record.description === undefined ? '' : `: ${record.description.replace(/\s+/g, ' ')}`}

git clone ${url}

Record:   at://${identity.did}/dev.skein.repo/${entry.rkey}
Branch:   ${record.defaultBranch}
A file:   ${url}/raw/HEAD/README.md
Archives: ${url}/archive/HEAD.tar.gz
          ${url}/archive/HEAD.zip
`
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

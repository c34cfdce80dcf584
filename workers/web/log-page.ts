import { logRoutine } from '../../durable-objects/log.ts'
import type { Mirror } from '../../durable-objects/repository/mirror.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Logs what a page has cost. An asset costs nothing.
 *
 * @param answer is given what is to hear of the repository that is opened for it
 */
export async function logPage(
  { url }: Pick<Request, 'url'>,
  context: Pick<RequestContext, 'queries'>,
  answer: (onOpen: (mirror: Mirror) => void) => Promise<Response>,
): Promise<Response> {
  const { pathname } = new URL(url)
  const startedAt = Date.now()
  let opened: Mirror | null = null
  const response = await answer((mirror) => {
    opened = mirror
  })
  if (pathname.startsWith('/-/assets/')) return response
  // What is assigned in a callback is not seen by the compiler.
  const mirror = opened as Mirror | null
  logRoutine('page-answered', {
    path: pathname,
    status: response.status,
    // Clocks stand still while a Worker computes: on a real edge it is the time that it has waited.
    ms: Date.now() - startedAt,
    queries: context.queries,
    ...(mirror === null ? {} : { did: mirror.address.did, rkey: mirror.address.rkey, ...mirror.cost }),
  })
  return response
}

import type { Deepen } from './deepen.ts'
import type { FetchRequest } from './fetch-request.ts'

/** Words for a client that asks for what is not advertised, or null. Nothing is ignored silently. */
export function unsupportedFetch(request: FetchRequest): string | null {
  if (request.wantRefs.length > 0) return 'fetching by ref name (want-ref) is not supported'
  if (request.sidebandAll) return 'sideband-all is not supported'
  if (request.packfileUris.length > 0) return 'packfile-uris is not supported'
  return unsupportedDeepen(request.deepen)
}

/** The same for what all versions of the protocol share. */
export function unsupportedDeepen(deepen: Deepen): string | null {
  if (deepen.filter !== null) return 'partial clones (--filter) are not supported yet'
  if (deepen.depth !== null || deepen.since !== null || deepen.not.length > 0) {
    return 'shallow clones (--depth, --shallow-since, --shallow-exclude) are not supported yet'
  }
  if (deepen.shallow.length > 0) return 'fetching into a shallow clone is not supported yet'
  return null
}

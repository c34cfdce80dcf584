import { type Environment, readEdgeDid } from '../../durable-objects/environment.ts'
import { httpErrorFrom } from '../http/error-from.ts'

/** The service that the edge is in its DID document: a JWT may be meant for it, or for the DID alone. */
export const EDGE_SERVICE = '#skein'

/** Where the edge of a did:web is. */
export function edgeUrl(did: string): URL {
  return new URL(`https://${decodeURIComponent(did.slice('did:web:'.length))}`)
}

/** The edge's DID document: a PDS that passes calls on finds the edge by it. */
export function edgeDocument(environment: Environment): Response {
  try {
    const did = readEdgeDid(environment)
    if (did === null) return new Response('this edge has no DID\n', { status: 404 })
    const service = { id: EDGE_SERVICE, type: 'SkeinEdge', serviceEndpoint: edgeUrl(did).origin }
    return Response.json(
      { '@context': ['https://www.w3.org/ns/did/v1'], id: did, service: [service] },
      { headers: { 'Access-Control-Allow-Origin': '*' } },
    )
  } catch (error) {
    const { status, message } = httpErrorFrom(error)
    return new Response(`${message}\n`, { status })
  }
}

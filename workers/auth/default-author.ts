import type { Identity } from '../../atproto/identity/identity.ts'
import type { Token } from '../../storage/access/token-store.ts'

/*
 * Whom a commit names whose caller does not say. Nobody reads mail at these addresses. They say who it was for good, so
 * they are made of DIDs, which stay, and not of handles, which change hands; a DID's colons are dots in them, for colons
 * may not stand in an address.
 */

export function accountAuthor({ did, handle }: Identity, host: string): { name: string; email: string } {
  return { name: handle ?? did, email: address(localPart(did), host) }
}

export function tokenAuthor({ id, did, label }: Token, host: string): { name: string; email: string } {
  return { name: label, email: address(`${id}+${localPart(did)}`, host) }
}

function localPart(did: string): string {
  return did.replaceAll(':', '.')
}

function address(local: string, host: string): string {
  return `${local}@users.noreply.${host}`
}

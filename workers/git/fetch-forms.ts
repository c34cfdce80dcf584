import type { Oid } from '../../git/bytes/oid.ts'
import type { FetchRequest } from '../../git/protocol/fetch-request.ts'
import { type NegotiationStore, negotiateV0, negotiateV2, type Round } from '../../git/protocol/negotiation.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'
import { SIDE_BAND_64K_DATA, sideBandLimit } from '../../git/protocol/side-band.ts'
import type { UploadRequest } from '../../git/protocol/upload-request.ts'

/** What differs between the versions of the protocol once a request for a pack has been read. */
export interface FetchForm {
  readonly wants: readonly Oid[]
  readonly haves: readonly Oid[]
  readonly thinPack: boolean
  readonly ofsDelta: boolean
  readonly includeTag: boolean
  readonly noProgress: boolean
  /** Data bytes of a side-band packet, or null for a bare pack. */
  readonly bandLimit: number | null
  /** What precedes the pack in any case, if the client says nothing that is to be answered: progress can follow it. */
  readonly preamble: Uint8Array | null
  /** Between the acknowledgments and the pack. */
  readonly packHeader: Uint8Array | null
  negotiate(store: NegotiationStore): Round
}

/** gitprotocol-v2, `fetch`. */
export function fetchFormV2(request: FetchRequest): FetchForm {
  const { done, haves, wants } = request
  const packHeader = pktLine('packfile\n')
  return {
    ...request,
    bandLimit: SIDE_BAND_64K_DATA,
    preamble: wants.length > 0 && (done || haves.length === 0) ? packHeader : null,
    packHeader,
    negotiate: (store) => negotiateV2(request, store),
  }
}

/** gitprotocol-pack: v0, and v1, which differs from it in its greeting only. */
export function fetchFormV0(request: UploadRequest): FetchForm {
  const { wants, haves, done, capabilities } = request
  const bandLimit = sideBandLimit(capabilities)
  return {
    wants,
    haves,
    thinPack: capabilities.has('thin-pack'),
    ofsDelta: capabilities.has('ofs-delta'),
    includeTag: capabilities.has('include-tag'),
    noProgress: capabilities.has('no-progress'),
    bandLimit,
    preamble: done && haves.length === 0 && bandLimit !== null ? pktLine('NAK\n') : null,
    packHeader: null,
    negotiate: (store) => negotiateV0(request, store),
  }
}

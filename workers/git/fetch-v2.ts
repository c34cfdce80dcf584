import { speaksOfEnds } from '../../git/protocol/deepen.ts'
import type { FetchRequest } from '../../git/protocol/fetch-request.ts'
import { negotiateV2 } from '../../git/protocol/negotiation.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'
import { PktLineWriter } from '../../git/protocol/pkt-line-writer.ts'
import { writeShallowUpdate } from '../../git/protocol/shallow-info.ts'
import { BAND_DATA, SIDE_BAND_64K_DATA } from '../../git/protocol/side-band.ts'
import { writeWantedRefs } from '../../git/protocol/wanted-refs.ts'
import { type FetchForm, type FetchHead, namedRefs } from './fetch-form.ts'

const PACKFILE = 'packfile\n'

/** gitprotocol-v2, `fetch`. */
export function fetchFormV2(request: FetchRequest): FetchForm {
  const { done, haves, wants, wantRefs, deepen, sidebandAll } = request
  const isConstant =
    wants.length > 0 && wantRefs.length === 0 && (done || haves.length === 0) && !speaksOfEnds(deepen) && !sidebandAll
  return {
    ...request,
    protocol: 2,
    namedRefs: namedRefs(wantRefs, deepen),
    bandLimit: SIDE_BAND_64K_DATA,
    isBandedFromStart: sidebandAll,
    constantHead: isConstant ? pktLine(PACKFILE) : null,
    negotiate: (store) => negotiateV2(request, store),
    encodeHead: (head) => encodeSections(request, head),
  }
}

/** In the order of the document. git's own server sends wanted-refs before shallow-info, and its client dies of it. */
function encodeSections({ deepen, sidebandAll }: FetchRequest, head: FetchHead): Uint8Array[] {
  const { graph, round, update, wantedRefs } = head
  const writer = new PktLineWriter(sidebandAll ? { band: BAND_DATA } : {})
  round.write(writer)
  if (!round.sendsPack) return writer.takeAll()
  if (speaksOfEnds(deepen)) {
    writer.line('shallow-info\n')
    if (update !== null) writeShallowUpdate(writer, graph, update)
    writer.delim()
  }
  if (wantedRefs.length > 0) {
    writer.line('wanted-refs\n')
    writeWantedRefs(writer, wantedRefs)
    writer.delim()
  }
  writer.line(PACKFILE)
  return writer.takeAll()
}

import { speaksOfEnds } from '../../git/protocol/deepen.ts'
import { negotiateV0 } from '../../git/protocol/negotiation.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'
import { PktLineWriter } from '../../git/protocol/pkt-line-writer.ts'
import { writeShallowUpdate } from '../../git/protocol/shallow-info.ts'
import { sideBandLimit } from '../../git/protocol/side-band.ts'
import type { UploadRequest } from '../../git/protocol/upload-request.ts'
import { type FetchForm, namedRefs } from './fetch-form.ts'

/**
 * gitprotocol-pack: v0, and v1, which differs from it in its greeting only. The ends of history come first, in the
 * answer to every POST, then the acknowledgments.
 */
export function fetchFormV0(request: UploadRequest): FetchForm {
  const { wants, haves, deepen, done, capabilities } = request
  const bandLimit = sideBandLimit(capabilities)
  const isConstant = done && haves.length === 0 && bandLimit !== null && !speaksOfEnds(deepen)
  return {
    protocol: 0,
    done,
    wants,
    wantRefs: [],
    namedRefs: namedRefs([], deepen),
    haves,
    deepen,
    thinPack: capabilities.has('thin-pack'),
    ofsDelta: capabilities.has('ofs-delta'),
    includeTag: capabilities.has('include-tag'),
    noProgress: capabilities.has('no-progress'),
    bandLimit,
    isBandedFromStart: false,
    constantHead: isConstant ? pktLine('NAK\n') : null,
    negotiate: (store) => negotiateV0(request, store),
    encodeHead({ graph, update, round }) {
      const writer = new PktLineWriter()
      if (update !== null) {
        writeShallowUpdate(writer, graph, update)
        writer.flush()
      }
      round.write(writer)
      return writer.takeAll()
    },
  }
}

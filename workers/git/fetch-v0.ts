import { type NegotiationStore, negotiateV0, type Round } from '../../git/protocol/negotiation.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'
import { PktLineWriter } from '../../git/protocol/pkt-line-writer.ts'
import { writeShallowUpdate } from '../../git/protocol/shallow-info.ts'
import { sideBandLimit } from '../../git/protocol/side-band.ts'
import type { UploadRequest } from '../../git/protocol/upload-request.ts'
import type { Fetch, FetchHead } from './answer-fetch.ts'

/** A fetch by v0 or v1 of the protocol: the ends of history, acknowledgments, the pack. */
export class FetchV0 implements Fetch {
  readonly request: UploadRequest
  readonly wantRefs = []
  readonly thinPack: boolean
  readonly ofsDelta: boolean
  readonly includeTag: boolean
  readonly noProgress: boolean
  readonly bandLimit: number | null
  readonly isBandedFromStart = false

  constructor(request: UploadRequest) {
    const { capabilities } = request
    this.request = request
    this.thinPack = capabilities.has('thin-pack')
    this.ofsDelta = capabilities.has('ofs-delta')
    this.includeTag = capabilities.has('include-tag')
    this.noProgress = capabilities.has('no-progress')
    this.bandLimit = sideBandLimit(capabilities)
  }

  get constantHead(): Uint8Array | null {
    const { done, haves } = this.request
    return done && haves.length === 0 && this.bandLimit !== null ? pktLine('NAK\n') : null
  }

  negotiate(store: NegotiationStore): Round {
    return negotiateV0(this.request, store)
  }

  writeHead({ graph, update, round }: FetchHead): Uint8Array[] {
    const writer = new PktLineWriter()
    if (update !== null) {
      writeShallowUpdate(writer, graph, update)
      writer.flush()
    }
    round.write(writer)
    return writer.takeAll()
  }
}

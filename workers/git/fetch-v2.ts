import type { FetchRequest } from '../../git/protocol/fetch-request.ts'
import { type NegotiationStore, negotiateV2, type Round } from '../../git/protocol/negotiation.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'
import { PktLineWriter } from '../../git/protocol/pkt-line-writer.ts'
import { writeShallowUpdate } from '../../git/protocol/shallow-info.ts'
import { BAND_DATA, SIDE_BAND_64K_DATA } from '../../git/protocol/side-band.ts'
import { writeWantedRefs } from '../../git/protocol/wanted-refs.ts'
import type { Fetch, FetchHead } from './answer-fetch.ts'

const PACKFILE = 'packfile\n'

/** The command `fetch` of v2: acknowledgments, or sections up to the pack. */
export class FetchV2 implements Fetch {
  readonly request: FetchRequest
  readonly bandLimit = SIDE_BAND_64K_DATA

  constructor(request: FetchRequest) {
    this.request = request
  }

  get wantRefs() {
    return this.request.wantRefs
  }

  get thinPack() {
    return this.request.thinPack
  }

  get ofsDelta() {
    return this.request.ofsDelta
  }

  get includeTag() {
    return this.request.includeTag
  }

  get noProgress() {
    return this.request.noProgress
  }

  get isBandedFromStart() {
    return this.request.sidebandAll
  }

  get constantHead(): Uint8Array | null {
    const { done, haves, wants, wantRefs, sidebandAll } = this.request
    const sendsPack = wants.length > 0 && (done || haves.length === 0)
    return sendsPack && wantRefs.length === 0 && !sidebandAll ? pktLine(PACKFILE) : null
  }

  negotiate(store: NegotiationStore): Round {
    return negotiateV2(this.request, store)
  }

  /** The sections have the order of gitprotocol-v2. git's own server sends wanted-refs first, on which `--depth` dies. */
  writeHead({ graph, update, wantedRefs, round }: FetchHead): Uint8Array[] {
    const writer = new PktLineWriter(this.request.sidebandAll ? { band: BAND_DATA } : {})
    round.write(writer)
    if (!round.sendsPack) return writer.takeAll()
    if (update !== null || this.request.deepen.shallow.length > 0) {
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
}

import { type Frame, unreadable } from './frame.ts'
import { decodeJetstreamFrame, decodeJetstreamV2Frame } from './jetstream-frame.ts'
import { decodeReposFrame } from './repos-frame.ts'
import type { Protocol } from './upstream.ts'

/** A message of a websocket, as it comes. */
export type RawFrame = string | ArrayBuffer

/** Reads one message of an upstream. It never throws. @param now milliseconds since 1970 */
export function decodeFrame(protocol: Protocol, raw: RawFrame, now: number): Frame {
  if (protocol === 'repos') {
    return typeof raw === 'string' ? unreadable('text in place of CBOR') : decodeReposFrame(new Uint8Array(raw), now)
  }
  if (typeof raw !== 'string') return unreadable('bytes in place of JSON')
  return protocol === 'jetstream' ? decodeJetstreamFrame(raw) : decodeJetstreamV2Frame(raw, now)
}

import type { Oid } from '../bytes/oid.ts'
import type { Capabilities } from './capabilities.ts'
import { PktLineWriter } from './pkt-line-writer.ts'

/** What became of one command. The options, of version 2, say how it differs from what the client asked for. */
export type CommandStatus =
  | {
      readonly ok: true
      readonly name: string
      readonly refname?: string
      readonly oldOid?: Oid
      readonly newOid?: Oid
      readonly forcedUpdate?: boolean
    }
  | { readonly ok: false; readonly name: string; readonly reason: string }

export interface ReportStatus {
  /** Null: the pack was taken (or there was none); else what is wrong with it. */
  readonly unpackError: string | null
  /** In the order of the commands. */
  readonly commands: readonly CommandStatus[]
}

export type ReportVersion = 1 | 2

/** Whether and how a client wants to be told; null: not at all. */
export function reportVersion(capabilities: Capabilities): ReportVersion | null {
  if (capabilities.has('report-status-v2')) return 2
  return capabilities.has('report-status') ? 1 : null
}

/** A reason is one line of at most this many characters, so that git shows it whole and a packet holds it. */
const REASON_LIMIT = 1000

/** The report as pkt-lines with their flush. With side-band, all of it is data of band 1 (gitprotocol-pack). */
export function encodeReport(report: ReportStatus, version: ReportVersion): Uint8Array {
  const writer = new PktLineWriter()
  writer.line(`unpack ${report.unpackError === null ? 'ok' : oneLine(report.unpackError)}\n`)
  for (const command of report.commands) {
    if (!command.ok) {
      writer.line(`ng ${command.name} ${oneLine(command.reason)}\n`)
      continue
    }
    writer.line(`ok ${command.name}\n`)
    if (version === 1) continue
    if (command.refname !== undefined) writer.line(`option refname ${command.refname}\n`)
    if (command.oldOid !== undefined) writer.line(`option old-oid ${command.oldOid}\n`)
    if (command.newOid !== undefined) writer.line(`option new-oid ${command.newOid}\n`)
    if (command.forcedUpdate === true) writer.line('option forced-update\n')
  }
  writer.flush()
  return writer.takeBytes()
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, REASON_LIMIT)
}

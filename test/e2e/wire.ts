/** Git's wire, by hand: tests that send what no client sends must not lean on the code that they test. */

export const ZERO_OID = '0'.repeat(40)
export const FLUSH = Buffer.from('0000')
export const DELIM = Buffer.from('0001')

export function pktLine(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** The pkt-lines of an answer; special packets (flush, delimiter, response end) are null. @throws on a malformed one */
export function readPktLines(bytes: Uint8Array): (Buffer | null)[] {
  const buffer = Buffer.from(bytes)
  const lines: (Buffer | null)[] = []
  for (let at = 0; at < buffer.length; ) {
    const length = Number.parseInt(buffer.toString('latin1', at, at + 4), 16)
    if (!(length >= 0) || length === 3 || at + Math.max(length, 4) > buffer.length) {
      throw new Error(`malformed pkt-line at ${at}: ${buffer.toString('latin1', at, at + 40)}`)
    }
    lines.push(length < 4 ? null : buffer.subarray(at + 4, at + length))
    at += Math.max(length, 4)
  }
  return lines
}

export interface RefUpdate {
  readonly name: string
  readonly from?: string
  readonly to?: string
}

export const REPORT_CAPABILITIES = 'report-status side-band-64k object-format=sha1 agent=test'

/** A receive-pack request. The pack is sent as it is, whole or not. */
export function receivePackRequest(updates: readonly RefUpdate[], pack: Uint8Array): Buffer {
  const lines = updates.map(({ name, from = ZERO_OID, to = ZERO_OID }, n) =>
    pktLine(`${from} ${to} ${name}${n === 0 ? `\0${REPORT_CAPABILITIES}` : ''}`),
  )
  return Buffer.concat([...lines, FLUSH, pack])
}

/** The lines of the report-status in an answer to a push (`unpack ok`, `ok refs/heads/main`, `ng …`). */
export function readReport(answer: Uint8Array): string[] {
  const bands = readPktLines(answer).filter((line) => line !== null)
  const report = Buffer.concat(bands.filter((band) => band[0] === 1).map((band) => band.subarray(1)))
  return readPktLines(report)
    .filter((line) => line !== null)
    .map((line) => line.toString().trimEnd())
}

export function basicAuth({ handle, password }: { handle: string; password: string }): string {
  return `Basic ${Buffer.from(`${handle}:${password}`).toString('base64')}`
}

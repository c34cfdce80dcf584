import type { Account } from '../dev/atmosphere.ts'
import { concatBytes } from '../git/bytes/concat.ts'
import type { Oid } from '../git/bytes/oid.ts'
import { pktLine } from '../git/protocol/pkt-line.ts'

const FLUSH = new TextEncoder().encode('0000')
const CAPABILITIES = 'report-status object-format=sha1'

export interface RefUpdate {
  readonly name: string
  readonly from: Oid
  readonly to: Oid
}

/** A push by one bare request: where git itself would take longer than what is to be measured. @throws unless all land */
export async function pushRaw(
  repositoryUrl: string,
  { handle, password }: Account,
  updates: readonly RefUpdate[],
  pack: Uint8Array,
): Promise<void> {
  const commands = updates.map(({ name, from, to }, n) =>
    pktLine(`${from} ${to} ${name}${n === 0 ? `\0${CAPABILITIES}` : ''}`),
  )
  const response = await fetch(`${repositoryUrl}/git-receive-pack`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-receive-pack-request',
      Authorization: `Basic ${btoa(`${handle}:${password}`)}`,
    },
    body: concatBytes([...commands, FLUSH, pack]),
  })
  const report = await response.text()
  const landed = report.match(/ok refs\//g)?.length ?? 0
  if (landed !== updates.length) throw new Error(`of ${updates.length} refs ${landed} landed: ${report.slice(0, 300)}`)
}

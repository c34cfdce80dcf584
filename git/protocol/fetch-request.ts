import type { Oid } from '../bytes/oid.ts'
import { type Deepen, DeepenReader } from './deepen.ts'
import { expectOid, splitKeyword } from './oid-line.ts'
import type { PktLineReader } from './pkt-line-reader.ts'
import { ProtocolError } from './protocol-error.ts'
import { readArguments, type V2Command } from './v2-command.ts'

const FLAGS = new Set([
  'done',
  'wait-for-done',
  'thin-pack',
  'no-progress',
  'include-tag',
  'ofs-delta',
  'sideband-all',
  'deepen-relative',
])

/** The arguments of the v2 command `fetch` (gitprotocol-v2). */
export interface FetchRequest {
  /** Each once. */
  readonly wants: readonly Oid[]
  /** Names of refs that are wanted whatever they point at by now. */
  readonly wantRefs: readonly string[]
  /** Each once. */
  readonly haves: readonly Oid[]
  readonly done: boolean
  readonly waitForDone: boolean
  readonly thinPack: boolean
  readonly noProgress: boolean
  readonly includeTag: boolean
  readonly ofsDelta: boolean
  readonly sidebandAll: boolean
  readonly deepen: Deepen
}

/** @throws {@link ProtocolError} */
export async function readFetchRequest(reader: PktLineReader, command: V2Command): Promise<FetchRequest> {
  const wants = new Set<Oid>()
  const haves = new Set<Oid>()
  const wantRefs = new Set<string>()
  const flags = new Set<string>()
  const deepen = new DeepenReader()
  if (command.hasArguments) {
    for await (const line of readArguments(reader)) {
      const [keyword, value] = splitKeyword(line)
      if (keyword === 'want') wants.add(expectOid(value, keyword))
      else if (keyword === 'have') haves.add(expectOid(value, keyword))
      else if (keyword === 'want-ref' && value !== null) wantRefs.add(value)
      else if (FLAGS.has(line)) flags.add(line)
      else if (!deepen.take(line)) throw new ProtocolError(`unexpected line: '${line}'`)
    }
  }
  return {
    wants: [...wants],
    wantRefs: [...wantRefs],
    haves: [...haves],
    done: flags.has('done'),
    waitForDone: flags.has('wait-for-done'),
    thinPack: flags.has('thin-pack'),
    noProgress: flags.has('no-progress'),
    includeTag: flags.has('include-tag'),
    ofsDelta: flags.has('ofs-delta'),
    sidebandAll: flags.has('sideband-all'),
    deepen: deepen.finish(flags.has('deepen-relative')),
  }
}

import type { AdvertisedRefs } from './advertised-refs.ts'
import type { PktLineReader } from './pkt-line-reader.ts'
import { PktLineWriter } from './pkt-line-writer.ts'
import { ProtocolError } from './protocol-error.ts'
import { readArguments, type V2Command } from './v2-command.ts'

/** The arguments of the v2 command `ls-refs`. */
export interface LsRefsRequest {
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  /** Only refs that start with one of these are wanted; none: all. */
  readonly prefixes: readonly string[]
}

/** With more prefixes than this all refs are listed, as git does: the client sorts them out. */
const PREFIX_LIMIT = 65536

/** @throws {@link ProtocolError} */
export async function readLsRefsRequest(reader: PktLineReader, command: V2Command): Promise<LsRefsRequest> {
  let [peel, symrefs, unborn] = [false, false, false]
  let prefixes: string[] = []
  let tooMany = false
  if (command.hasArguments) {
    for await (const argument of readArguments(reader)) {
      if (argument === 'peel') peel = true
      else if (argument === 'symrefs') symrefs = true
      else if (argument === 'unborn') unborn = true
      else if (!argument.startsWith('ref-prefix ')) throw new ProtocolError(`unexpected line: '${argument}'`)
      else if (!tooMany && prefixes.push(argument.slice('ref-prefix '.length)) >= PREFIX_LIMIT) {
        tooMany = true
        prefixes = []
      }
    }
  }
  return { peel, symrefs, unborn, prefixes }
}

/** The answer to `ls-refs`, in large chunks. `refs` may have been filtered by the prefixes already. */
export function* encodeLsRefs(request: LsRefsRequest, refs: AdvertisedRefs): Generator<Uint8Array, void, undefined> {
  const writer = new PktLineWriter()
  const isWanted = prefixFilter(request.prefixes)
  const { head } = refs
  const symref = request.symrefs ? ` symref-target:${head.branch}` : ''
  if (isWanted('HEAD')) {
    if (head.target !== null) writer.line(`${head.target} HEAD${symref}\n`)
    else if (request.unborn && request.symrefs) writer.line(`unborn HEAD${symref}\n`)
  }
  for (const { name, target, peeled } of refs.refs) {
    if (!isWanted(name)) continue
    writer.line(`${target} ${name}${request.peel && peeled !== null ? ` peeled:${peeled}` : ''}\n`)
    yield* writer.takeFull()
  }
  writer.flush()
  yield* writer.takeAll()
}

/** A fetch of many single refs sends a prefix for each: whole names are looked up, not compared one by one. */
function prefixFilter(prefixes: readonly string[]): (name: string) => boolean {
  if (prefixes.length === 0) return () => true
  const lengths = [...new Set(prefixes.map((prefix) => prefix.length))].sort((a, b) => a - b)
  const known = new Set(prefixes)
  return (name) => {
    for (const length of lengths) {
      if (length > name.length) return false
      if (known.has(name.slice(0, length))) return true
    }
    return false
  }
}

import type { Oid } from '../bytes/oid.ts'
import { expectOid, splitKeyword } from './oid-line.ts'
import type { PktLineReader } from './pkt-line-reader.ts'
import { PktLineWriter } from './pkt-line-writer.ts'
import { ProtocolError } from './protocol-error.ts'
import { readArguments, type V2Command } from './v2-command.ts'

/** The arguments of the v2 command `object-info` (gitprotocol-v2). */
export interface ObjectInfoRequest {
  readonly size: boolean
  /** In the order in which they came: each is answered. */
  readonly oids: readonly Oid[]
}

/** Objects in one request, at most: their sizes are gathered before the answer starts. */
export const OBJECT_INFO_LIMIT = 100_000

/** @throws {@link ProtocolError} */
export async function readObjectInfoRequest(reader: PktLineReader, command: V2Command): Promise<ObjectInfoRequest> {
  const oids: Oid[] = []
  let size = false
  if (command.hasArguments) {
    for await (const line of readArguments(reader)) {
      const [keyword, value] = splitKeyword(line)
      if (line === 'size') size = true
      else if (keyword !== 'oid') throw new ProtocolError(`object-info: unexpected line: '${line}'`)
      else if (oids.push(expectOid(value, keyword)) > OBJECT_INFO_LIMIT) {
        throw new ProtocolError(`object-info: more than ${OBJECT_INFO_LIMIT} objects`)
      }
    }
  }
  return { size, oids }
}

/**
 * The answer: the names of what is told, then a line an object, with nothing after the id of one that is not there.
 *
 * @param sizes in bytes; null: absent
 */
export function* encodeObjectInfo(
  request: ObjectInfoRequest,
  sizes: ReadonlyMap<Oid, number | null>,
): Generator<Uint8Array, void, undefined> {
  const writer = new PktLineWriter()
  if (request.size) writer.line('size')
  for (const oid of request.oids) {
    writer.line(request.size ? `${oid} ${sizes.get(oid) ?? ''}` : oid)
    yield* writer.takeFull()
  }
  writer.flush()
  yield* writer.takeAll()
}

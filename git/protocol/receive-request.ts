import { type Oid, ZERO_OID } from '../bytes/oid.ts'
import { type Capabilities, checkObjectFormat, decodeCapabilities } from './capabilities.ts'
import { expectOid, splitKeyword } from './oid-line.ts'
import { END, FLUSH, lineText, trimLine } from './pkt-line.ts'
import type { PktLineReader } from './pkt-line-reader.ts'
import { ProtocolError } from './protocol-error.ts'

/** One wish of a push: move a ref from an old to a new object. The zero id stands for none, on either side. */
export interface RefCommand {
  readonly old: Oid
  readonly new: Oid
  /** As the client sent it: not checked, perhaps not UTF-8. */
  readonly name: Uint8Array
}

/** A receive-pack request up to its pack (gitprotocol-pack). */
export interface ReceiveRequest {
  /** None: a probe, or nothing to do. */
  readonly commands: readonly RefCommand[]
  readonly capabilities: Capabilities
  readonly pushOptions: readonly string[]
  /** Commits whose parents the client does not have. */
  readonly shallow: readonly Oid[]
}

/** Refs in one push, at most: they are held in memory and land together. */
export const COMMANDS_LIMIT = 100_000
export const PUSH_OPTIONS_LIMIT = 100
/** Bytes of a ref's name that is answered at all: the answer must fit in a line, with its reason. */
const NAME_LIMIT = 8192

const NUL = 0
const OLD_AT = 0
const NEW_AT = ZERO_OID.length + 1
const NAME_AT = 2 * NEW_AT

/** Whether a pack follows the request: deletions alone come without one. */
export function expectsPack(request: ReceiveRequest): boolean {
  return request.commands.some((command) => command.new !== ZERO_OID)
}

/**
 * Reads commands and push options; what is left in the reader is the pack, if {@link expectsPack}.
 *
 * @throws {@link ProtocolError} also for a body that is empty or cut off, and for a signed push.
 */
export async function readReceiveRequest(reader: PktLineReader): Promise<ReceiveRequest> {
  const commands: RefCommand[] = []
  const shallow: Oid[] = []
  let capabilities: Capabilities | null = null
  for (;;) {
    const packet = await reader.read()
    if (packet === FLUSH) break
    if (packet === END) throw new ProtocolError('the request is cut off')
    if (typeof packet === 'string') throw new ProtocolError(`unexpected ${packet} packet`)
    const [line, words] = splitAtNul(trimLine(packet))
    const [keyword, value] = splitKeyword(lineText(line))
    if (keyword === 'push-cert') throw new ProtocolError('signed pushes are not supported')
    if (keyword === 'shallow') {
      shallow.push(expectOid(value, keyword))
      continue
    }
    if (commands.length === COMMANDS_LIMIT) throw new ProtocolError(`more than ${COMMANDS_LIMIT} refs in one push`)
    commands.push(decodeCommand(line))
    capabilities ??= decodeCapabilities(words ?? '')
  }
  capabilities ??= new Map()
  checkObjectFormat(capabilities)
  const pushOptions = capabilities.has('push-options') ? await readPushOptions(reader) : []
  return { commands, capabilities, pushOptions, shallow }
}

function decodeCommand(line: Uint8Array): RefCommand {
  const text = lineText(line.subarray(OLD_AT, NAME_AT))
  if (text[NEW_AT - 1] !== ' ' || text[NAME_AT - 1] !== ' ' || line.length === NAME_AT) {
    throw new ProtocolError(`expected old and new object id and ref, got '${text}'`)
  }
  if (line.length > NAME_AT + NAME_LIMIT) throw new ProtocolError(`ref name is longer than ${NAME_LIMIT} bytes`)
  return {
    old: expectOid(text.slice(OLD_AT, NEW_AT - 1), 'old'),
    new: expectOid(text.slice(NEW_AT, NAME_AT - 1), 'new'),
    name: line.slice(NAME_AT),
  }
}

async function readPushOptions(reader: PktLineReader): Promise<string[]> {
  const options: string[] = []
  for (;;) {
    const packet = await reader.read()
    if (packet === FLUSH) return options
    if (packet === END) throw new ProtocolError('the request is cut off')
    if (typeof packet === 'string') throw new ProtocolError(`unexpected ${packet} packet`)
    if (options.length === PUSH_OPTIONS_LIMIT) throw new ProtocolError(`more than ${PUSH_OPTIONS_LIMIT} push options`)
    options.push(lineText(packet))
  }
}

function splitAtNul(line: Uint8Array): [line: Uint8Array, capabilities: string | null] {
  const nul = line.indexOf(NUL)
  return nul < 0 ? [line, null] : [line.subarray(0, nul), lineText(line.subarray(nul + 1))]
}

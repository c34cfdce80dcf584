import { addCapability, type Capabilities, checkObjectFormat } from './capabilities.ts'
import { DELIM, END, FLUSH, lineText } from './pkt-line.ts'
import type { PktLineReader } from './pkt-line-reader.ts'
import { ProtocolError } from './protocol-error.ts'

/** The start of a v2 request. Its arguments, if there are any, are still in the reader. */
export interface V2Command {
  readonly command: string
  readonly capabilities: Capabilities
  /** False: the request is over, the command has no arguments. */
  readonly hasArguments: boolean
}

/** Longer lists are not capabilities. */
const CAPABILITY_LINES_LIMIT = 256

/**
 * Reads the command and capabilities of a v2 request; null for a probe that holds nothing but a flush.
 *
 * @throws {@link ProtocolError} also for a body that is empty or cut off.
 */
export async function readV2Command(reader: PktLineReader): Promise<V2Command | null> {
  let command: string | null = null
  const capabilities = new Map<string, string>()
  for (let lines = 0; lines <= CAPABILITY_LINES_LIMIT; lines++) {
    const packet = await reader.read()
    if (packet === FLUSH && lines === 0) return null
    if (packet === FLUSH || packet === DELIM) {
      if (command === null) throw new ProtocolError('no command requested')
      checkObjectFormat(capabilities)
      return { command, capabilities, hasArguments: packet === DELIM }
    }
    if (packet === END) throw new ProtocolError('the request is cut off')
    if (typeof packet === 'string') throw new ProtocolError(`unexpected ${packet} packet`)
    const text = lineText(packet)
    if (!text.startsWith('command=')) addCapability(capabilities, text)
    else if (command === null) command = text.slice('command='.length)
    else throw new ProtocolError('more than one command requested')
  }
  throw new ProtocolError('too many capabilities')
}

/** The argument lines of a v2 command, as text without newlines, up to the flush that ends the request. */
export async function* readArguments(reader: PktLineReader): AsyncGenerator<string, void, undefined> {
  for (;;) {
    const packet = await reader.read()
    if (packet === FLUSH) return
    if (packet === END) throw new ProtocolError('the request is cut off')
    if (typeof packet === 'string') throw new ProtocolError(`unexpected ${packet} packet`)
    yield lineText(packet)
  }
}

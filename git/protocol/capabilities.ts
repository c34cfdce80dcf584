import { ProtocolError } from './protocol-error.ts'

/** Capabilities by name. Those without a value have `''`; one that is given twice has its values joined by a space. */
export type Capabilities = ReadonlyMap<string, string>

/** Sent as `agent`: clients log it. */
export const AGENT = 'skein/0.1'
export const OBJECT_FORMAT = 'sha1'

const AGENT_LIMIT = 256

/** Reads `name[=value] name[=value] ...`, as the first line of a v0 request has it. */
export function decodeCapabilities(text: string): Capabilities {
  const capabilities = new Map<string, string>()
  for (const word of text.split(' ')) if (word !== '') addCapability(capabilities, word)
  return capabilities
}

/** Adds one `name[=value]`. */
export function addCapability(capabilities: Map<string, string>, word: string): void {
  const equals = word.indexOf('=')
  const name = equals < 0 ? word : word.slice(0, equals)
  const value = equals < 0 ? '' : word.slice(equals + 1)
  const earlier = capabilities.get(name)
  capabilities.set(name, earlier === undefined || earlier === '' ? value : `${earlier} ${value}`)
}

/** Refuses a client that hashes otherwise than the repository. @throws {@link ProtocolError} */
export function checkObjectFormat(capabilities: Capabilities): void {
  const format = capabilities.get('object-format')
  if (format !== undefined && format !== OBJECT_FORMAT) {
    throw new ProtocolError(`mismatched object format: server ${OBJECT_FORMAT}; client ${format.slice(0, AGENT_LIMIT)}`)
  }
}

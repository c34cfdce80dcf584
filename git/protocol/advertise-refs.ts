import { ZERO_OID } from '../bytes/oid.ts'
import type { AdvertisedRefs } from './advertised-refs.ts'
import { AGENT, OBJECT_FORMAT } from './capabilities.ts'
import { PktLineWriter } from './pkt-line-writer.ts'

export type ServiceName = 'git-upload-pack' | 'git-receive-pack'

/** What upload-pack of v0 and v1 can do. Nothing is named that is not built. */
const UPLOAD_PACK_CAPABILITIES = [
  'multi_ack',
  'thin-pack',
  'side-band',
  'side-band-64k',
  'ofs-delta',
  'shallow',
  'deepen-since',
  'deepen-not',
  'deepen-relative',
  'no-progress',
  'include-tag',
  'multi_ack_detailed',
  'allow-tip-sha1-in-want',
  'allow-reachable-sha1-in-want',
  'no-done',
  'filter',
]

const RECEIVE_PACK_CAPABILITIES = [
  'report-status',
  'report-status-v2',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'push-options',
]

/** The service of the `service` parameter of `info/refs`, or null: the dumb protocol, or one that is not known. */
export function parseService(name: string | null): ServiceName | null {
  return name === 'git-upload-pack' || name === 'git-receive-pack' ? name : null
}

/**
 * The answer to `info/refs?service=git-upload-pack` in v0 and v1, in large chunks: HEAD first where it is born, tags
 * of tags peeled to the end (gitprotocol-http, gitprotocol-pack).
 */
export function* advertiseUploadPack(refs: AdvertisedRefs, version: 0 | 1): Generator<Uint8Array, void, undefined> {
  const { head } = refs
  const writer = startAdvertisement('git-upload-pack')
  if (version === 1) writer.line('version 1\n')
  const symref = head.target === null ? [] : [`symref=HEAD:${head.branch}`]
  let capabilities = withIdentity([...UPLOAD_PACK_CAPABILITIES, ...symref])
  const ref = (oid: string, name: string) => {
    writer.line(`${oid} ${name}${capabilities}\n`)
    capabilities = ''
  }
  if (head.target !== null) ref(head.target, 'HEAD')
  for (const { name, target, peeled } of refs.refs) {
    ref(target, name)
    if (peeled !== null) ref(peeled, `${name}^{}`)
    yield* writer.takeFull()
  }
  if (capabilities !== '') ref(ZERO_OID, 'capabilities^{}')
  writer.flush()
  yield* writer.takeAll()
}

/** The answer to `info/refs?service=git-receive-pack`, whatever the version: neither HEAD nor peeled tags. */
export function* advertiseReceivePack(refs: AdvertisedRefs): Generator<Uint8Array, void, undefined> {
  const writer = startAdvertisement('git-receive-pack')
  let capabilities = withIdentity(RECEIVE_PACK_CAPABILITIES)
  for (const { name, target } of refs.refs) {
    writer.line(`${target} ${name}${capabilities}\n`)
    capabilities = ''
    yield* writer.takeFull()
  }
  if (capabilities !== '') writer.line(`${ZERO_OID} capabilities^{}${capabilities}\n`)
  writer.flush()
  yield* writer.takeAll()
}

/** The answer to `info/refs?service=git-upload-pack` in v2: what commands there are, and no ref (gitprotocol-v2). */
export function* advertiseCapabilities(): Generator<Uint8Array, void, undefined> {
  const writer = new PktLineWriter()
  writer.line('version 2\n')
  writer.line(`agent=${AGENT}\n`)
  writer.line('ls-refs=unborn\n')
  writer.line('fetch=shallow wait-for-done filter ref-in-want sideband-all\n')
  writer.line('server-option\n')
  writer.line(`object-format=${OBJECT_FORMAT}\n`)
  writer.line('object-info\n')
  writer.flush()
  yield* writer.takeAll()
}

function startAdvertisement(service: ServiceName): PktLineWriter {
  const writer = new PktLineWriter()
  writer.line(`# service=${service}\n`)
  writer.flush()
  return writer
}

function withIdentity(capabilities: readonly string[]): string {
  return `\0${[...capabilities, `object-format=${OBJECT_FORMAT}`, `agent=${AGENT}`].join(' ')}`
}

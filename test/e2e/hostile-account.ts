import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { packKey, refKey } from '../../atproto/records/record-keys.ts'

/** An account whose server says whatever a test wants: a did:web on loopback. */
export interface HostileAccount {
  readonly did: string
  /** Key of the one pack that it may have. */
  readonly packKey: string
  /** Path of its repository `app` at the edge. */
  readonly path: string
  /** Puts a record into the lists of its collection, as it is. */
  add(collection: string, rkey: string, value: object): void
  addRef(name: string, target: string): void
  records(collection: string): readonly { uri: string; value: object }[]
  /** @param pack as `git pack-objects` writes it */
  addPack(pack: Buffer, fields?: object): void
  /** Answers a method in place of what the lists say; of `listRecords` the collection is the method. */
  answer(method: string, answer: (query: URLSearchParams, response: ServerResponse) => void): void
  [Symbol.asyncDispose](): Promise<void>
}

const REPO = '3lzkoq5qq2s2a'
const PACK = '3lzkoq5qq2s2b'
const createdAt = new Date(0).toISOString()
const REPO_VALUE = { $type: 'dev.skein.repo', name: 'app', defaultBranch: 'main', objectFormat: 'sha1', createdAt }

export function sendJson(response: ServerResponse, answer: object | string): void {
  response.setHeader('content-type', 'application/json')
  response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
}

export async function startHostileAccount(): Promise<HostileAccount> {
  const records = new Map<string, { uri: string; value: object }[]>()
  const answers = new Map<string, (query: URLSearchParams, response: ServerResponse) => void>()
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const method = pathname.split('/').at(-1) ?? ''
    const collection = searchParams.get('collection') ?? ''
    const answer = answers.get(method === 'com.atproto.repo.listRecords' ? collection : method)
    if (answer) answer(searchParams, response)
    else if (method === 'did.json') sendJson(response, document)
    else if (method === 'com.atproto.repo.getRecord') sendJson(response, { uri: '', value: REPO_VALUE })
    else sendJson(response, { records: records.get(collection) ?? [] })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const did = `did:web:localhost%3A${port}`
  const service = {
    id: '#atproto_pds',
    type: 'AtprotoPersonalDataServer',
    serviceEndpoint: `http://localhost:${port}`,
  }
  const document = { id: did, alsoKnownAs: [], service: [service] }
  const add = (collection: string, rkey: string, value: object) => {
    const listed = records.get(collection) ?? []
    listed.push({ uri: `at://${did}/${collection}/${rkey}`, value: { $type: collection, ...value } })
    records.set(collection, listed)
  }
  add('dev.skein.repo', REPO, REPO_VALUE)
  return {
    did,
    packKey: packKey(REPO, PACK),
    path: `/${encodeURIComponent(did)}/app`,
    add,
    addRef: (name, target) => add('dev.skein.ref', refKey(REPO, name, 1), { name, target, seq: 1 }),
    records: (collection) => records.get(collection) ?? [],
    addPack(pack, fields = {}) {
      add('dev.skein.pack', packKey(REPO, PACK), {
        bytes: { $bytes: pack.toString('base64').replace(/=+$/, '') },
        size: pack.length,
        objects: pack.readUInt32BE(8),
        checksum: pack.subarray(-20).toString('hex'),
        thin: false,
        createdAt,
        ...fields,
      })
    },
    answer: (method, answer) => void answers.set(method, answer),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

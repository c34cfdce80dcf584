import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, onTestFailed } from 'vitest'
import {
  type Account,
  type Atmosphere,
  type AtmosphereOptions,
  type PdsRequest,
  startAtmosphere,
} from '../../dev/atmosphere.ts'
import { type Edge, LOCAL_EDGE_DID, startEdge } from '../../dev/edge.ts'
import { Git } from '../../dev/git.ts'
import { WorkingCopy } from './working-copy.ts'

/** What an end-to-end test stands in: an Atmosphere with two accounts, an edge, real git, and a place for files. */
export interface World {
  readonly atmosphere: Atmosphere
  readonly edge: Edge
  readonly git: Git
  readonly alice: Account
  readonly bob: Account
  /** The repository's address, without credentials. */
  at(owner: Account, repository: string): string
  /** The same with the credentials of `user` in it, as git takes them. */
  as(user: Account, repository: string, owner?: Account): string
  /** A new, empty directory. */
  directory(): Promise<string>
  /** A new repository without commits. */
  init(): Promise<WorkingCopy>
  /** `git clone`, which must succeed. Git's own options come before the address. */
  clone(...args: string[]): Promise<WorkingCopy>
  /** The requests that the PDS got while `action` ran. */
  pdsRequestsDuring(action: () => Promise<unknown>): Promise<readonly PdsRequest[]>
  /** Changes with every write into the account, and with nothing else. */
  accountCommit(account: Account): Promise<string>
  /** All records of one collection in the account, as the PDS has them. */
  records(account: Account, collection: string): Promise<{ uri: string; value: Record<string, unknown> }[]>
  /** Writes a record by the account's own session, past the edge. */
  createRecord(account: Account, collection: string, rkey: string, record: object): Promise<void>
  /** A service-auth JWT of the account for the local edge, from its PDS. */
  serviceAuth(
    account: Account,
    lxm: string,
    parameters?: { readonly aud?: string; readonly exp?: string },
  ): Promise<string>
  /** Deletes a record of the account, by its AT URI, past the edge. */
  deleteRecord(account: Account, uri: string): Promise<void>
}

export interface WorldOptions {
  readonly atmosphere?: Omit<AtmosphereOptions, 'stateDirectory'>
  /** Variables of durable-objects/environment.ts. */
  readonly vars?: Readonly<Record<string, string>>
  /** Whether the edge follows the PDS from its first event on. Default false. */
  readonly isFollowing?: boolean
}

/** Call it at the top of a test file: all is stopped and removed after the file's last test. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  await using starting = new AsyncDisposableStack()
  const root = await mkdtemp(join(tmpdir(), 'skein-e2e-'))
  starting.defer(() => rm(root, { recursive: true, force: true }))
  const atmosphere = await startAtmosphere({ ...options.atmosphere, stateDirectory: join(root, 'atmosphere') })
  starting.defer(() => atmosphere.close())
  const { pdsUrl, plcUrl } = atmosphere
  const edge = await startEdge({
    port: 0,
    stateDirectory: join(root, 'edge'),
    pdsUrl,
    plcUrl,
    vars: {
      ...(options.isFollowing ? { UPSTREAMS: atmosphere.streamUrl(0), RELAY_URL: pdsUrl } : {}),
      ...options.vars,
    },
  })
  starting.defer(() => edge.close())
  const alice = await atmosphere.createAccount({ handle: 'alice.test', password: 'alice-password' })
  const bob = await atmosphere.createAccount({ handle: 'bob.test', password: 'bob-password' })
  const home = join(root, 'home')
  await mkdir(home)
  const running = starting.move()
  afterAll(() => running.disposeAsync())
  beforeEach(() => {
    const before = edge.logs.length
    onTestFailed(() => {
      for (const { level, message } of edge.logs.slice(before)) console.error(`edge ${level}: ${message}`)
    })
  })

  const git = new Git(home)
  const directory = () => mkdtemp(join(root, 'work-'))
  const get = async (nsid: string, parameters: Record<string, string>, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`${pdsUrl}/xrpc/${nsid}?${new URLSearchParams(parameters)}`, { headers })
    if (!response.ok) throw new Error(`${nsid}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const post = async ({ did, accessJwt }: Account, nsid: string, input: object) => {
    const response = await fetch(`${pdsUrl}/xrpc/${nsid}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessJwt}`, 'content-type': 'application/json' },
      body: JSON.stringify({ repo: did, ...input }),
    })
    if (!response.ok) throw new Error(`${nsid}: ${response.status} ${await response.text()}`)
  }
  return {
    atmosphere,
    edge,
    git,
    alice,
    bob,
    at: (owner, repository) => `${edge.url}/${owner.handle}/${repository}`,
    as: (user, repository, owner = user) =>
      `${edge.url.replace('//', `//${user.handle}:${user.password}@`)}/${owner.handle}/${repository}`,
    directory,
    async init() {
      const work = new WorkingCopy(git, await directory())
      await work.git('init', '--quiet')
      return work
    },
    async clone(...args) {
      const copy = new WorkingCopy(git, await directory())
      await copy.git('clone', '--quiet', ...args, '.')
      return copy
    },
    async pdsRequestsDuring(action) {
      const before = atmosphere.requests.length
      await action()
      return atmosphere.requests.slice(before)
    },
    async accountCommit({ did }) {
      return ((await get('com.atproto.sync.getLatestCommit', { did })) as { cid: string }).cid
    },
    async records({ did }, collection) {
      const all: { uri: string; value: Record<string, unknown> }[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = (await get('com.atproto.repo.listRecords', { repo: did, collection, limit: '100', cursor })) as {
          records: typeof all
          cursor?: string
        }
        all.push(...page.records)
        cursor = page.records.length > 0 ? page.cursor : undefined
      }
      return all
    },
    createRecord: (account, collection, rkey, record) =>
      post(account, 'com.atproto.repo.createRecord', { collection, rkey, record: { $type: collection, ...record } }),
    async serviceAuth({ accessJwt }, lxm, parameters) {
      const query = { aud: LOCAL_EDGE_DID, lxm, ...parameters }
      return ((await get('com.atproto.server.getServiceAuth', query, accessJwt)) as { token: string }).token
    },
    deleteRecord: (account, uri) => {
      const [collection, rkey] = uri.split('/').slice(-2)
      return post(account, 'com.atproto.repo.deleteRecord', { collection, rkey })
    },
  }
}

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'

/**
 * A local Atmosphere for `npm start`, tests and benches: the reference PDS and a PLC directory, in this process and on
 * loopback only. Everything it knows lies in one directory, so that a restart on the same directory finds the same
 * accounts, at the same PDS address (DID documents name it).
 */
export interface Atmosphere {
  /** Origin, as it stands in DID documents: `http://localhost:<port>`. */
  readonly pdsUrl: string
  readonly plcUrl: string
  /** What the PDS says of its accounts as it happens: one of the edge's `UPSTREAMS`. @param cursor where to begin; null: now */
  streamUrl(cursor: number | null): string
  /** Every request that reached the PDS, in order of arrival; grows while the Atmosphere runs. */
  readonly requests: readonly PdsRequest[]
  /** The account of that handle: created, or signed in to if it exists. Throws `AtmosphereError` on any refusal. */
  createAccount(account: { handle: string; password: string }): Promise<Account>
  /** A new app password of the account. */
  createAppPassword(account: Account, name: string): Promise<string>
  /** Stops the PDS listener: connections, websockets too, are cut, new ones are refused, until `resume`. */
  pause(): Promise<void>
  /** Listens again, at the same address. */
  resume(): Promise<void>
  /**
   * The next request whose path ends in `nsid` is carried out by the PDS, but its answer never arrives: the connection
   * is cut instead.
   */
  loseNextAnswer(nsid: string): void
  /** The next request whose path ends in `nsid` meets a fault; see {@link Fault}. Faults for one `nsid` queue up. */
  failNext(nsid: string, fault: Fault): void
  close(): Promise<void>
}

/** What becomes of a request. */
export type Fault =
  /** It never reaches the PDS: this is the answer, given without waiting for the body. */
  | {
      readonly kind: 'refuse'
      readonly status: number
      readonly headers?: Record<string, string>
      readonly body?: object
    }
  /** The PDS carries it out, and the answer says that it failed. */
  | { readonly kind: 'fail-after'; readonly status: number }
  /** Neither read nor answered, until `release` is settled; then it goes on its way. */
  | { readonly kind: 'hang'; readonly release: Promise<unknown> }

export interface Account {
  readonly did: string
  readonly handle: string
  readonly password: string
  /** Good for two hours; tests read and write records with it. */
  readonly accessJwt: string
}

export interface PdsRequest {
  readonly method: string
  /** Without the query: `/xrpc/com.atproto.repo.applyWrites`. */
  readonly path: string
  readonly query: string
  /** Null until the answer is sent, and for ever if the client went away before. */
  status: number | null
  /** Write points that the reference PDS counts for it, also where it then refuses it; 0 until its body has come. */
  writePoints: number
}

export interface AtmosphereOptions {
  /** Where accounts, blobs, the PLC directory and the port are kept. Made if it is absent. */
  readonly stateDirectory: string
  /** Enforce the reference PDS's rate limits. Default false. */
  readonly rateLimits?: boolean
  /** Bytes; default is the reference PDS's own, 5 MiB. */
  readonly blobUploadLimit?: number
  /**
   * How far away the PDS is, for benches: each request is held so long before the PDS sees it. Connections still open at
   * once. Default 0.
   */
  readonly roundTripMilliseconds?: number
}

/** The local PDS refused something that a healthy one grants. */
export class AtmosphereError extends Error {
  override readonly name = 'AtmosphereError'
}

const LOOPBACK = '127.0.0.1'

// Local and loopback only, and the state directory must open again after a restart: so they need not be secret, only the same.
const SECRETS = {
  jwtSecret: 'skein-local-jwt-secret',
  adminPassword: 'skein-local-admin',
  dpopSecret: '0'.repeat(64),
  plcRotationKeyK256PrivateKeyHex: '11'.repeat(32),
}

export async function startAtmosphere(options: AtmosphereOptions): Promise<Atmosphere> {
  const { stateDirectory, roundTripMilliseconds: roundTrip = 0 } = options
  const pdsDirectory = join(stateDirectory, 'pds')
  await mkdir(pdsDirectory, { recursive: true })
  // Both servers read this when they are imported: hence the late imports.
  process.env.LOG_ENABLED ??= 'false'
  const [{ PDS }, { PlcServer }, plcDatabase] = await Promise.all([
    import('@atproto/pds'),
    import('@did-plc/server'),
    openPlcDatabase(join(stateDirectory, 'plc.jsonl')),
  ])

  const plcServer = createServer(PlcServer.create({ db: plcDatabase }).app)
  const plcUrl = `http://localhost:${await listen(plcServer, 0)}`

  const port = await pdsPort(join(stateDirectory, 'pds-port'))
  const pds = await PDS.fromEnv({
    devMode: true,
    port,
    dataDirectory: pdsDirectory,
    blobstoreDiskLocation: join(pdsDirectory, 'blobs'),
    didPlcUrl: plcUrl,
    serviceHandleDomains: ['.test'],
    inviteRequired: false,
    rateLimitsEnabled: options.rateLimits ?? false,
    ...(options.blobUploadLimit === undefined ? {} : { blobUploadLimit: options.blobUploadLimit }),
    ...SECRETS,
  })
  await pds.ctx.sequencer.start()
  // The app's own `listen` also attaches the websocket endpoints. `pds.start()` would listen on all interfaces.
  const pdsServer = pds.app.listen(port, LOOPBACK)
  await listening(pdsServer, port)
  watchUpgrades(pdsServer)

  const pdsUrl = `http://localhost:${port}`
  const requests: PdsRequest[] = []
  const answersToLose: string[] = []
  const faults: { readonly nsid: string; readonly fault: Fault }[] = []
  const carryOut = pdsServer.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  pdsServer.removeAllListeners('request')
  pdsServer.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', pdsUrl)
    const at = faults.findIndex(({ nsid }) => pathname.endsWith(nsid))
    const fault = at < 0 ? null : faults.splice(at, 1)[0]!.fault
    const arrive = () => {
      for (const listener of carryOut) listener.call(pdsServer, request, response)
    }
    interfere(fault, response, roundTrip === 0 ? arrive : () => setTimeout(arrive, roundTrip))
  })
  pdsServer.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search } = new URL(request.url ?? '/', pdsUrl)
    const entry: PdsRequest = {
      method: request.method ?? '',
      path: pathname,
      query: search,
      status: null,
      writePoints: 0,
    }
    requests.push(entry)
    if (pathname.endsWith('com.atproto.repo.applyWrites')) {
      watchBody(request, (body) => {
        entry.writePoints = writePointsOf(body)
      })
    }
    response.on('finish', () => {
      entry.status = response.statusCode
    })
    const lose = answersToLose.findIndex((nsid) => pathname.endsWith(nsid))
    if (lose >= 0) {
      answersToLose.splice(lose, 1)
      cutInsteadOfAnswering(response)
    }
  })

  return {
    pdsUrl,
    plcUrl,
    streamUrl: (cursor) => {
      const query = cursor === null ? '' : `?cursor=${cursor}`
      return `${pdsUrl.replace(/^http/, 'ws')}/xrpc/com.atproto.sync.subscribeRepos${query}`
    },
    requests,
    createAccount: (account) => createAccount(pdsUrl, account),
    createAppPassword: (account, name) => createAppPassword(pdsUrl, account, name),
    pause: () => stopListening(pdsServer),
    async resume() {
      await listen(pdsServer, port)
    },
    loseNextAnswer(nsid) {
      answersToLose.push(nsid)
    },
    failNext(nsid, fault) {
      faults.push({ nsid, fault })
    },
    async close() {
      await Promise.all([stopListening(pdsServer), stopListening(plcServer)])
      await pds.destroy()
    },
  }
}

async function createAccount(
  pdsUrl: string,
  { handle, password }: { handle: string; password: string },
): Promise<Account> {
  const email = `${handle.replaceAll('.', '-')}@example.com`
  const created = await callPds(pdsUrl, 'com.atproto.server.createAccount', { handle, password, email })
  const session = created.ok
    ? created
    : await callPds(pdsUrl, 'com.atproto.server.createSession', { identifier: handle, password })
  if (!session.ok)
    throw new AtmosphereError(`neither created nor signed in as ${handle}: ${created.text}; ${session.text}`)
  const { did, accessJwt } = JSON.parse(session.text) as { did: string; accessJwt: string }
  return { did, handle, password, accessJwt }
}

async function createAppPassword(pdsUrl: string, account: Account, name: string): Promise<string> {
  const answer = await callPds(pdsUrl, 'com.atproto.server.createAppPassword', { name }, account.accessJwt)
  if (!answer.ok) throw new AtmosphereError(`no app password for ${account.handle}: ${answer.text}`)
  return (JSON.parse(answer.text) as { password: string }).password
}

async function callPds(
  pdsUrl: string,
  nsid: string,
  input: object,
  token?: string,
): Promise<{ ok: boolean; text: string }> {
  const response = await fetch(`${pdsUrl}/xrpc/${nsid}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(input),
  })
  return { ok: response.ok, text: await response.text() }
}

/**
 * The mock database of the reference PLC server keeps all in memory. This one also appends every operation to a file, a
 * JSON line each, and runs them again when it is opened.
 */
async function openPlcDatabase(path: string) {
  const { MockDatabase } = await import('@did-plc/server')
  const database = new MockDatabase()
  const validateAndAddOp = database.validateAndAddOp.bind(database)
  const operations = existsSync(path) ? (await readFile(path, 'utf8')).split('\n').filter(Boolean) : []
  for (const line of operations) {
    await validateAndAddOp(...(JSON.parse(line) as Parameters<typeof validateAndAddOp>))
  }
  database.validateAndAddOp = async (did, operation) => {
    await validateAndAddOp(did, operation)
    await appendFile(path, `${JSON.stringify([did, operation])}\n`)
  }
  return database
}

/** The kept port, or a free one, which is then kept: DID documents of the accounts will name it. */
async function pdsPort(path: string): Promise<number> {
  if (existsSync(path)) return Number(await readFile(path, 'utf8'))
  const probe = createServer()
  const port = await listen(probe, 0)
  await stopListening(probe)
  await writeFile(path, String(port))
  return port
}

/** @returns the port, which differs from the argument where that is 0 */
async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, LOOPBACK)
  await listening(server, port)
  return (server.address() as AddressInfo).port
}

async function listening(server: Server, port: number): Promise<void> {
  if (server.listening) return
  try {
    // It takes its listeners away again: a server may listen many times.
    await once(server, 'listening')
  } catch (cause) {
    throw new AtmosphereError(`cannot listen on port ${port}: ${(cause as Error).message}`, { cause })
  }
}

/** Websockets that are open: a server forgets a connection when it is upgraded, and yet waits for its end. */
const upgraded = new WeakMap<Server, Set<Duplex>>()

function watchUpgrades(server: Server): void {
  const sockets = new Set<Duplex>()
  upgraded.set(server, sockets)
  server.on('upgrade', (_, socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
}

async function stopListening(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  for (const socket of upgraded.get(server) ?? []) socket.destroy()
  await closed
}

function interfere(fault: Fault | null, response: ServerResponse, carryOut: () => void): void {
  switch (fault?.kind) {
    case 'refuse':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      response.end(JSON.stringify(fault.body ?? {}))
      return
    case 'fail-after': {
      const writeHead = response.writeHead.bind(response)
      response.writeHead = ((_status: number, ...rest: unknown[]) => writeHead(fault.status, ...(rest as []))) as never
      carryOut()
      return
    }
    case 'hang':
      void fault.release.then(carryOut)
      return
    default:
      carryOut()
  }
}

/** What the PDS reads of a request, without taking it from the PDS. */
function watchBody(request: IncomingMessage, onBody: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  const emit = request.emit.bind(request)
  // A listener would set the body flowing before the PDS listens.
  request.emit = (event: string, ...rest: unknown[]) => {
    if (event === 'data') chunks.push(rest[0] as Buffer)
    if (event === 'end') onBody(Buffer.concat(chunks))
    return emit(event, ...rest)
  }
}

/** Of an applyWrites; 0 where it is none that can be read. */
function writePointsOf(body: Buffer): number {
  const points = { '#create': 3, '#update': 2, '#delete': 1 }
  try {
    const { writes } = JSON.parse(body.toString()) as { writes: { $type: string }[] }
    return writes.reduce((sum, { $type }) => sum + (points[/#.*/.exec($type)?.[0] as keyof typeof points] ?? 0), 0)
  } catch {
    return 0
  }
}

function cutInsteadOfAnswering(response: ServerResponse): void {
  const cut = () => {
    response.socket?.destroy()
    return response
  }
  response.write = () => true
  response.end = cut
}

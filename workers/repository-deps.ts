import type { Identity } from '../atproto/identity/identity.ts'
import type { RepoRecord } from '../atproto/records/record-types.ts'
import { tids } from '../durable-objects/tids.ts'
import { ALL_REFS } from '../git/refs/ref-selection.ts'
import { TokenStore } from '../storage/access/token-store.ts'
import type { DirectoryEntry } from '../storage/directory/repository-directory.ts'
import { IndexReader } from '../storage/index/index-reader.ts'
import type { RepositoryView } from '../storage/repository-view.ts'
import { authenticateAccount, authenticateOwner } from './auth/authenticate.ts'
import { requireRight } from './auth/caller.ts'
import { wireGateway } from './gateway/wire-gateway.ts'
import { HttpError } from './http/http-error.ts'
import { locateRepository, orNull } from './locate-repository.ts'
import type { RepositoryReference } from './repository-access.ts'
import type { RequestContext } from './request-context.ts'
import type { KnownRepository, NewRepository, XrpcDeps } from './xrpc/deps.ts'

/** How handlers that read files and records get at repositories. */
export function repositoryDeps(context: RequestContext): XrpcDeps {
  return {
    open: (reference) => open(context, reference),
    find: async (reference) => {
      const located = await locateRepository(context, reference)
      return located && known(located.identity, located.entry)
    },
    list: (actor) => list(context, actor),
    create: (request, repository) => create(context, request, repository),
    requireOwner: (request, nsid) => authenticateOwner(context, request, nsid),
    tokens: new TokenStore(context.db),
    gateway: wireGateway(context),
    index: new IndexReader(context.db),
  }
}

async function open(context: RequestContext, reference: RepositoryReference): Promise<RepositoryView | null> {
  const located = await locateRepository(context, reference)
  if (located === null) return null
  const mirror = context.mirror(located.identity, located.entry.rkey)
  return mirror.view(await mirror.completeManifest(ALL_REFS))
}

async function list(context: RequestContext, actor: string): Promise<KnownRepository[] | null> {
  return orNull(async () => {
    const identity = await context.resolveActor(actor)
    return (await context.listRepositories(identity)).map((entry) => known(identity, entry))
  })
}

async function create(context: RequestContext, request: Request, wanted: NewRepository): Promise<KnownRepository> {
  const { owner, caller } = await authenticateAccount(context, request, 'dev.skein.repo.create')
  requireRight(caller, 'branch', { rkey: null, ref: null })
  const { did, pds } = owner
  const rkey = tids.next()
  const record: RepoRecord = { ...wanted, objectFormat: 'sha1', createdAt: new Date().toISOString() }
  const answer = await context
    .accountWriter(did)
    .land({ did, pds, repo: rkey, create: record, pack: null, moves: [], atomic: true, head: null })
  if (answer.ok && typeof answer.result.repository === 'object') {
    throw new HttpError(409, 'RepositoryExists', `the account has a repository named '${wanted.name}' already`)
  }
  const failure = answer.ok ? answer.result.failure : answer
  if (!answer.ok && answer.reason === 'blocked') throw new HttpError(403, 'Blocked', answer.message)
  if (!answer.ok && (answer.reason === 'signed-out' || answer.reason === 'refused')) {
    throw new HttpError(403, 'Refused', answer.message)
  }
  if (failure !== null) {
    const isUncertain = 'isUncertain' in failure && failure.isUncertain
    const doubt = isUncertain ? '; whether the repository was created is not known: list them, and try again' : ''
    throw new HttpError(503, 'UpstreamUnavailable', failure.message + doubt, {
      'Retry-After': `${failure.retryAfterSeconds ?? 10}`,
    })
  }
  await context.noteRepository(did, { rkey, record })
  return known(owner, { rkey, record })
}

function known({ did, handle }: Identity, { rkey, record }: DirectoryEntry): KnownRepository {
  return { account: { did, handle }, rkey, record }
}

import { createPdsClient } from '../../durable-objects/pds-clients.ts'
import type { Mirror } from '../../durable-objects/repository/mirror.ts'
import { ALL_REFS } from '../../git/refs/ref-selection.ts'
import { IndexReader } from '../../storage/index/index-reader.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { HttpError } from '../http/http-error.ts'
import { locateRepository } from '../locate-repository.ts'
import { type RepositoryReference, repositoryNotFound } from '../repository-access.ts'
import type { RequestContext } from '../request-context.ts'
import type { ListedAccount, OpenedRepository, WebDeps } from './deps.ts'
import { R2Facts } from './facts/kept-facts.ts'
import { R2LastCommits } from './kept-last-commits.ts'
import { CachedProfiles } from './profile/profiles.ts'

/** So long a reader waits for packs that are being taken in; then the page says how far it is. Milliseconds. */
const PATIENCE = 3_000
/** When the page that says so is to be loaded again. Seconds. */
const RETRY_AFTER = 4

/**
 * How the pages get at accounts and repositories.
 *
 * @param onOpen hears of the mirror of each repository that is opened
 */
export function wireWeb(
  context: RequestContext,
  request: Pick<Request, 'url'>,
  onOpen: (mirror: Mirror) => void,
): WebDeps {
  return {
    open: (reference) => open(context, reference, onOpen),
    account: (actor) => account(context, actor, new URL(request.url).origin),
    index: new IndexReader(context.db),
    keeper: { cache: caches.default, waitUntil: (work) => context.waitUntil(work) },
  }
}

async function open(
  context: RequestContext,
  reference: RepositoryReference,
  onOpen: (mirror: Mirror) => void,
): Promise<OpenedRepository> {
  const located = await locateRepository(context, reference)
  if (located === null) throw repositoryNotFound(reference)
  const { identity, entry } = located
  const mirror = context.mirror(identity, entry.rkey)
  onOpen(mirror)
  let progress = 'it has been asked for'
  const complete = mirror.completeManifest(ALL_REFS, (line) => {
    progress = line
  })
  const manifest = await inTime(complete)
  if (manifest === null) {
    // Whoever comes next finds more of it.
    context.waitUntil(complete.catch(() => undefined))
    throw new HttpError(503, 'StillMirroring', `this repository is being mirrored: ${progress.trim()}`, {
      'Retry-After': `${RETRY_AFTER}`,
    })
  }
  const { did, handle } = identity
  const waitUntil = (work: Promise<unknown>) => context.waitUntil(work)
  const lastCommits = new R2LastCommits(context.environment.PACKS, did, entry.rkey, waitUntil)
  const facts = new R2Facts(context.environment.PACKS, did, entry.rkey, waitUntil)
  return { account: { did, handle }, ...entry, view: await mirror.view(manifest), lastCommits, facts }
}

/** Null: it takes longer than a reader is to wait. */
async function inTime(complete: Promise<Manifest>): Promise<Manifest | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE)
  })
  try {
    return await Promise.race([complete, late])
  } finally {
    clearTimeout(timer)
  }
}

async function account(context: RequestContext, actor: string, origin: string): Promise<ListedAccount> {
  const identity = await context.resolveActor(actor)
  const { did, handle } = identity
  const profiles = new CachedProfiles({
    cache: caches.default,
    origin,
    client: (pds) => createPdsClient(context.environment, pds),
    waitUntil: (work) => context.waitUntil(work),
  })
  return {
    did,
    handle,
    profile: () => profiles.of(identity),
    avatar: async (cid) => {
      await context.requireAccountServed(identity)
      return profiles.avatar(identity, cid)
    },
    repositories: async () =>
      (await context.listRepositories(identity)).map(({ rkey, record }) => ({
        account: { did, handle },
        rkey,
        record,
      })),
  }
}

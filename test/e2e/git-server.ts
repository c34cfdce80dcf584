import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { startHttpBackend } from '../../bench/http-backend.ts'
import type { World } from './harness.ts'
import { WorkingCopy } from './working-copy.ts'

/** Git's own server: what a client gets from it, it is to get from the edge. */
export interface GitServer {
  /** Address of a repository that it serves. */
  readonly address: string
  /** That repository. */
  readonly copy: WorkingCopy
}

/**
 * Serves a copy of a repository by git's http-backend, with all that it can do turned on but ref-in-want, which it does
 * not get right together with depth. Call it at the top of a test file, after the world.
 */
export async function serveByGit(world: World, repository: WorkingCopy): Promise<GitServer> {
  const root = await world.directory()
  const copy = new WorkingCopy(world.git, join(root, 'copy.git'))
  await repository.git('clone', '--quiet', '--mirror', repository.directory, copy.directory)
  await copy.git('symbolic-ref', 'HEAD', 'refs/heads/main')
  for (const key of ['http.receivepack', 'uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant']) {
    await copy.git('config', key, 'true')
  }
  const server = await startHttpBackend(root, world.git.environment)
  afterAll(() => server.close())
  return { address: `${server.url}/copy.git`, copy }
}

/** What a client has in the end: refs, where its history ends, what it lacks of what it reaches, and every object. */
export interface ClientState {
  readonly refs: Record<string, string>
  readonly shallow: readonly string[]
  /** As `git rev-list --objects --missing=print` has it, or null if commits are missing, at which it gives up. */
  readonly reachable: readonly string[] | null
  readonly stored: readonly string[]
}

export async function clientState(client: WorkingCopy): Promise<ClientState> {
  const sorted = (text: string) => text.split('\n').filter(Boolean).sort()
  const file = await client.git('rev-parse', '--git-path', 'shallow')
  const shallow = await readFile(join(client.directory, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const heads = await client.try('rev-parse', '--verify', '--quiet', 'FETCH_HEAD')
  const tips = heads.status === 0 ? ['--all', 'FETCH_HEAD'] : ['--all']
  const listing = await client.try('rev-list', '--objects', '--no-object-names', '--missing=print', ...tips)
  return {
    refs: await client.refs(),
    shallow: sorted(shallow),
    reachable: listing.status === 0 ? sorted(listing.stdout) : null,
    stored: sorted(await client.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)')),
  }
}

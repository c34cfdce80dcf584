import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuardedFetch, type GuardedFetch } from '../../atproto/network/guarded-fetch.ts'
import { PdsClient } from '../../atproto/pds/pds-client.ts'
import type { Write } from '../../atproto/pds/write.ts'
import { type Account, type Atmosphere, type AtmosphereOptions, startAtmosphere } from '../../dev/atmosphere.ts'

/** A real PDS of its own, and an account on it. */
export interface LocalAccount extends AsyncDisposable {
  readonly atmosphere: Atmosphere
  readonly account: Account
  readonly client: PdsClient
  /** Plain http and loopback are allowed. */
  readonly fetch: GuardedFetch
  applyWrites(writes: readonly Write[]): Promise<{ isCounted: boolean }>
  /** Methods of the requests that the PDS has got while `run` ran: `com.atproto.repo.applyWrites`. */
  requestsOf(run: () => Promise<unknown>): Promise<string[]>
}

export async function startLocalAccount(
  options: Omit<AtmosphereOptions, 'stateDirectory'> = {},
): Promise<LocalAccount> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'skein-test-'))
  const atmosphere = await startAtmosphere({ stateDirectory, ...options })
  const account = await atmosphere.createAccount({ handle: 'alice.test', password: 'alice-password' })
  const fetch = createGuardedFetch({ allowPrivateHosts: true })
  const client = new PdsClient({ service: atmosphere.pdsUrl, fetch })
  return {
    atmosphere,
    account,
    client,
    fetch,
    applyWrites: (writes) => client.applyWrites(account.did, writes, account.accessJwt),
    async requestsOf(run) {
      const before = atmosphere.requests.length
      await run()
      return atmosphere.requests.slice(before).map(({ path }) => path.slice('/xrpc/'.length))
    },
    async [Symbol.asyncDispose]() {
      await atmosphere.close()
      await rm(stateDirectory, { recursive: true, force: true })
    },
  }
}

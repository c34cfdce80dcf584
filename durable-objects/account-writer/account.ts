import type { Landing } from '../../atproto/account/landing.ts'
import { LandingQueue } from '../../atproto/account/landing-queue.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import { PdsError } from '../../atproto/pds/pds-error.ts'
import type { Write } from '../../atproto/pds/write.ts'
import type { TidClock } from '../../atproto/records/tid.ts'
import { type AuthenticateAnswer, type LandAnswer, type Refusal, refusalOf, type TokenAnswer } from './answers.ts'
import { SessionKeeper, type SessionKeeperDeps } from './session-keeper.ts'
import { type PointLimit, WritePoints } from './write-points.ts'

export interface AccountDeps extends SessionKeeperDeps {
  readonly client: PdsClient
  readonly tids: TidClock
  /** Why a repository may not be written to (any more); null: it may. @param repo record key of `dev.skein.repo` */
  mayNotWrite(repo: string): Promise<Refusal | null>
  /** What the PDS grants. Default: the reference PDS's. */
  readonly pointLimits?: readonly PointLimit[]
}

/** One account, signed in and written to. */
export class Account {
  readonly #sessions: SessionKeeper
  readonly #landings: LandingQueue

  constructor(deps: AccountDeps) {
    const { did, client, tids, pds, store, now, mayNotWrite, pointLimits } = deps
    const { host } = new URL(pds)
    const points = new WritePoints({
      host,
      store,
      now,
      ...(pointLimits === undefined ? {} : { limits: pointLimits }),
    })
    this.#sessions = new SessionKeeper(deps)
    this.#landings = new LandingQueue({
      client,
      applyWrites: async (writes) => {
        // It was asked when the landing came; it may have waited since.
        for (const repo of repositoriesOf(writes)) {
          const refused = await mayNotWrite(repo)
          if (refused !== null) throw new PdsError(host, BAD_REQUEST, 'Blocked', refused.message, null)
        }
        await points.take(writes)
        const { isCounted } = await this.#sessions.withToken((token) => client.applyWrites(did, writes, token))
        await points.learn(isCounted)
      },
      tids,
    })
  }

  authenticate(password: string): Promise<AuthenticateAnswer> {
    return this.#sessions.authenticate(password)
  }

  /** @param refused a token of before that the PDS has refused */
  async accessToken(refused?: string): Promise<TokenAnswer> {
    try {
      return { ok: true, token: await this.#sessions.accessToken(refused) }
    } catch (fault) {
      return refusalOf(fault)
    }
  }

  /** Refused only before anything was tried; what happens after that is in the result. */
  async land(landing: Landing): Promise<LandAnswer> {
    const session = await this.accessToken()
    if (!session.ok) return session
    return { ok: true, result: await this.#landings.land(landing) }
  }
}

/** As a PDS refuses a write for what is in it: those that go with it in one write are tried without it. */
const BAD_REQUEST = 400

/** Keys of all records begin with that of their repository. */
function repositoriesOf(writes: readonly Write[]): Set<string> {
  return new Set(writes.map(({ rkey }) => rkey.split(':')[0]!))
}

import type { Landing } from '../../atproto/account/landing.ts'
import { LandingQueue } from '../../atproto/account/landing-queue.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import type { TidClock } from '../../atproto/records/tid.ts'
import { type AuthenticateAnswer, type LandAnswer, refusalOf, type TokenAnswer } from './answers.ts'
import { SessionKeeper, type SessionKeeperDeps } from './session-keeper.ts'
import { type PointLimit, WritePoints } from './write-points.ts'

export interface AccountDeps extends SessionKeeperDeps {
  readonly client: PdsClient
  readonly tids: TidClock
  /** What the PDS grants. Default: the reference PDS's. */
  readonly pointLimits?: readonly PointLimit[]
}

/** One account, signed in and written to. */
export class Account {
  readonly #sessions: SessionKeeper
  readonly #landings: LandingQueue

  constructor(deps: AccountDeps) {
    const { did, client, tids, pds, store, now, pointLimits } = deps
    const points = new WritePoints({
      host: new URL(pds).host,
      store,
      now,
      ...(pointLimits === undefined ? {} : { limits: pointLimits }),
    })
    this.#sessions = new SessionKeeper(deps)
    this.#landings = new LandingQueue({
      client,
      applyWrites: async (writes) => {
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

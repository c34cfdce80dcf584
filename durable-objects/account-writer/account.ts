import type { Landing } from '../../atproto/account/landing.ts'
import { LandingQueue } from '../../atproto/account/landing-queue.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import type { TidClock } from '../../atproto/records/tid.ts'
import { type AuthenticateAnswer, type LandAnswer, refusalOf, type TokenAnswer } from './answers.ts'
import { SessionKeeper, type SessionKeeperDeps } from './session-keeper.ts'

export interface AccountDeps extends SessionKeeperDeps {
  readonly client: PdsClient
  readonly tids: TidClock
}

/** One account, signed in and written to. */
export class Account {
  readonly #sessions: SessionKeeper
  readonly #landings: LandingQueue

  constructor(deps: AccountDeps) {
    const { did, client, tids } = deps
    this.#sessions = new SessionKeeper(deps)
    this.#landings = new LandingQueue({
      client,
      applyWrites: (writes) => this.#sessions.withToken((token) => client.applyWrites(did, writes, token)),
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

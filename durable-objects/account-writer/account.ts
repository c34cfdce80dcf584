import { land } from '../../atproto/account/land.ts'
import type { Landing } from '../../atproto/account/landing.ts'
import type { PdsClient } from '../../atproto/pds/pds-client.ts'
import type { Write } from '../../atproto/pds/write.ts'
import type { TidClock } from '../../atproto/records/tid.ts'
import { type AuthenticateAnswer, type LandAnswer, refusalOf, type TokenAnswer } from './answers.ts'
import { HeadLog, movesHead } from './head-log.ts'
import { Serial } from './serial.ts'
import { SessionKeeper, type SessionKeeperDeps } from './session-keeper.ts'

export interface AccountDeps extends SessionKeeperDeps {
  readonly client: PdsClient
  readonly tids: TidClock
}

/** One account, signed in and written to. */
export class Account {
  readonly #deps: AccountDeps
  readonly #sessions: SessionKeeper
  readonly #serial = new Serial()
  readonly #heads = new HeadLog()

  constructor(deps: AccountDeps) {
    this.#deps = deps
    this.#sessions = new SessionKeeper(deps)
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
    // Whether a name is free, and what the head is, must stay true until the write: such landings take turns.
    if (landing.create) return this.#serial.run('create', () => this.#land(landing))
    if (movesHead(landing)) return this.#serial.run(landing.repo, () => this.#land(landing))
    return this.#land(landing)
  }

  async #land(asked: Landing): Promise<LandAnswer> {
    const { did, client, tids } = this.#deps
    const applyWrites = (writes: readonly Write[]) =>
      this.#sessions.withToken((token) => client.applyWrites(did, writes, token))
    const tried = this.#heads.bringUp(asked)
    const result = await land({ client, applyWrites, tids }, tried)
    return { ok: true, result: this.#heads.note(asked, tried, result) }
  }
}

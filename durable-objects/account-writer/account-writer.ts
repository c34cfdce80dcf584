import { DurableObject } from 'cloudflare:workers'
import { drizzle } from 'drizzle-orm/d1'
import type { Landing } from '../../atproto/account/landing.ts'
import { TidClock } from '../../atproto/records/tid.ts'
import { BlockStore } from '../../storage/operator/blocks.ts'
import { type Environment, mayPush } from '../environment.ts'
import { log } from '../log.ts'
import { createPdsClient } from '../pds-clients.ts'
import { Account } from './account.ts'
import { AccountGate } from './account-gate.ts'
import type { AccountAddress, AuthenticateAnswer, LandAnswer, TokenAnswer } from './answers.ts'
import { importSealingKey } from './sealed-value.ts'

/**
 * The one place that writes to an account, one object a DID: it holds the session, refreshes it, and lands what was
 * pushed. What it does is in `Account` and the files beside it; here it meets the platform.
 */
export class AccountWriter extends DurableObject<Environment> {
  readonly #tids = new TidClock()
  readonly #gate: AccountGate
  #account: { readonly pds: string; readonly opened: Promise<Account> } | null = null

  constructor(context: DurableObjectState, environment: Environment) {
    super(context, environment)
    this.#gate = new AccountGate({
      store: context.storage,
      blocksOf: (did) => new BlockStore(drizzle(environment.DB)).of(did),
      mayPush: (did) => mayPush(environment, did),
      now: Date.now,
      waitUntil: (work) => context.waitUntil(work),
      log,
    })
  }

  /** Hears that the operator has blocked something of the account, or has taken that back. */
  async heedOperator(did: string): Promise<void> {
    await this.#gate.askAgain(did)
  }

  /** Lets a password in: without a request to the PDS where it is known already. */
  async authenticate({ did, pds, password }: AccountAddress & { password: string }): Promise<AuthenticateAnswer> {
    return (await this.#gate.refusal(did, null)) ?? (await this.#open({ did, pds })).authenticate(password)
  }

  /**
   * A token for uploads, which the Worker makes itself: bytes do not pass through here. `refused` is one of before that
   * the PDS has refused: the session may have ended there, and a password that is at hand opens another.
   */
  async accessToken({ did, pds, refused }: AccountAddress & { refused?: string }): Promise<TokenAnswer> {
    return (await this.#gate.refusal(did, null)) ?? (await this.#open({ did, pds })).accessToken(refused)
  }

  /** Creates a repository, lands a pack, moves refs: see `LandingQueue`. */
  async land(landing: Landing): Promise<LandAnswer> {
    return (await this.#gate.refusal(landing.did, landing.repo)) ?? (await this.#open(landing)).land(landing)
  }

  async #open({ did, pds }: AccountAddress): Promise<Account> {
    if (this.#account?.pds !== pds) this.#account = { pds, opened: this.#create(did, pds) }
    return this.#account.opened
  }

  async #create(did: string, pds: string): Promise<Account> {
    return new Account({
      did,
      pds,
      store: this.ctx.storage,
      sealingKey: await importSealingKey(this.env.SESSION_KEY),
      client: createPdsClient(this.env, pds, did),
      tids: this.#tids,
      mayNotWrite: (repo) => this.#gate.refusal(did, repo),
      now: Date.now,
    })
  }
}

import { createHash } from 'node:crypto'
import { lte } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { usedJwts } from './tables.ts'

/** Which service-auth JWTs have been used, in D1. */
export class UsedJwts {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /**
   * Notes that a JWT is used now, and drops those that are out of date.
   *
   * @param jti the JWT's own name, unique with its issuer
   * @param now milliseconds since 1970
   * @param expiresAt when it is out of date in any case, in milliseconds since 1970
   * @returns false: it has been used before
   */
  async use(issuer: string, jti: string, now: number, expiresAt: number): Promise<boolean> {
    // A DID has no spaces.
    const hash = createHash('sha256').update(`${issuer} ${jti}`).digest('hex')
    const [, noted] = await this.#db.batch([
      this.#db.delete(usedJwts).where(lte(usedJwts.expiresAt, now)),
      this.#db.insert(usedJwts).values({ hash, expiresAt }).onConflictDoNothing().returning(),
    ])
    return noted.length === 1
  }
}

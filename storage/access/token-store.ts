import { and, asc, desc, eq, isNotNull, isNull, lte, notInArray, or, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { Grant, Right } from '../../atproto/access/grant.ts'
import { tokens } from './tables.ts'
import { hashToken } from './token-text.ts'

/** A token without its text. */
export interface Token {
  readonly id: string
  /** The account that it acts for. */
  readonly did: string
  /** What its owner calls it: the name of the agent that has it. */
  readonly label: string
  readonly grant: Grant
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly expiresAt: number
  /** Null: it has not been. */
  readonly revokedAt: number | null
}

/** Tokens of one account that are good at the same time. */
export const MAX_TOKENS = 200
/** Tokens of one account that are kept after they have ended, for whoever wants to know what there was: the newest. */
const MAX_ENDED_TOKENS = 200

/** Tokens in D1. Nothing is remembered between two reads: a token that is revoked is not good any more. */
export class TokenStore {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /**
   * @param text the token itself, of which only the hash is kept
   * @returns false: the account has {@link MAX_TOKENS} already
   */
  async create(token: Token, text: string): Promise<boolean> {
    const { id, did, label, grant, createdAt, expiresAt } = token
    const ended = and(eq(tokens.did, did), or(isNotNull(tokens.revokedAt), lte(tokens.expiresAt, createdAt)))
    const newest = this.#db.select({ id: tokens.id }).from(tokens).where(ended).orderBy(desc(tokens.id))
    const good = sql`select count(*) from ${tokens} where ${tokens.did} = ${did} and ${isNull(tokens.revokedAt)} and ${tokens.expiresAt} > ${createdAt}`
    const [, created] = await this.#db.batch([
      this.#db.delete(tokens).where(and(ended, notInArray(tokens.id, newest.limit(MAX_ENDED_TOKENS)))),
      this.#db
        .insert(tokens)
        .select(
          sql`select ${id}, ${hashToken(text)}, ${did}, ${label}, ${toJson(grant.repositories)}, ${toJson(grant.branches)}, ${JSON.stringify(grant.rights)}, ${createdAt}, ${expiresAt}, null where (${good}) < ${MAX_TOKENS}`,
        )
        .returning({ id: tokens.id }),
    ])
    return created.length === 1
  }

  /** The token of this text, also one that has ended; null if there is none. */
  async find(text: string): Promise<Token | null> {
    const row = await this.#db
      .select()
      .from(tokens)
      .where(eq(tokens.hash, hashToken(text)))
      .get()
    return row === undefined ? null : tokenOf(row)
  }

  /** Those of these tokens that are there and have not been revoked. @param ids not more than a hundred thousand */
  async unrevoked(ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#db
      .select({ id: tokens.id })
      .from(tokens)
      .where(and(sql`${tokens.id} in (select value from json_each(${JSON.stringify(ids)}))`, isNull(tokens.revokedAt)))
    return new Set(rows.map(({ id }) => id))
  }

  /** The tokens of an account, oldest first, those that have ended with them. */
  async list(did: string): Promise<Token[]> {
    const rows = await this.#db.select().from(tokens).where(eq(tokens.did, did)).orderBy(asc(tokens.id))
    return rows.map(tokenOf)
  }

  /**
   * Ends a token of an account. One that was revoked before stays revoked since then.
   *
   * @param now milliseconds since 1970
   * @returns the token; null: the account has none of that id
   */
  async revoke(did: string, id: string, now: number): Promise<Token | null> {
    const [row] = await this.#db
      .update(tokens)
      .set({ revokedAt: sql`coalesce(${tokens.revokedAt}, ${now})` })
      .where(and(eq(tokens.did, did), eq(tokens.id, id)))
      .returning()
    return row === undefined ? null : tokenOf(row)
  }
}

function toJson(values: readonly string[] | null): string | null {
  return values === null ? null : JSON.stringify(values)
}

function tokenOf({ id, did, label, createdAt, expiresAt, revokedAt, ...row }: typeof tokens.$inferSelect): Token {
  const grant: Grant = {
    repositories: row.repositories === null ? null : (JSON.parse(row.repositories) as string[]),
    branches: row.branches === null ? null : (JSON.parse(row.branches) as string[]),
    rights: JSON.parse(row.rights) as Right[],
  }
  return { id, did, label, grant, createdAt, expiresAt, revokedAt }
}

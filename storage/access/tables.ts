import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/** What lets programs act for an account. Unlike the rest of D1 it is no copy: what is lost here is lost. */
export const tokens = sqliteTable(
  'tokens',
  {
    /** A TID. */
    id: text('id').primaryKey(),
    /** SHA-256 of the token's text, hex. */
    hash: text('hash').notNull(),
    /** The owner. */
    did: text('did').notNull(),
    label: text('label').notNull(),
    /** JSON array of record keys, or null: all of the owner's. */
    repositories: text('repositories'),
    /** JSON array of patterns, or null: all branches. */
    branches: text('branches'),
    /** JSON array. */
    rights: text('rights').notNull(),
    /** Milliseconds since 1970, as all that follow. */
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
  },
  (table) => [uniqueIndex('tokens_by_hash').on(table.hash), index('tokens_by_owner').on(table.did, table.id)],
)

/** Who put what on a branch: one row for each piece of work that landed. */
export const landings = sqliteTable(
  'landings',
  {
    /** Names the piece of work: written twice, it is one row. */
    ticket: text('ticket').primaryKey(),
    /** Account and record key of the repository. */
    did: text('did').notNull(),
    rkey: text('rkey').notNull(),
    /** Full name. */
    ref: text('ref').notNull(),
    /** Pieces of work that landed together have the same. */
    landing: text('landing').notNull(),
    /** Where the ref was after it; null: it was deleted. */
    commit: text('commit'),
    kind: text('kind').notNull(),
    /** The account that acted. */
    submitter: text('submitter').notNull(),
    /** The token that it came with, and what that was called. */
    token: text('token'),
    label: text('label'),
    /** Milliseconds since 1970. */
    landedAt: integer('landed_at').notNull(),
  },
  (table) => [
    index('landings_by_repository').on(table.did, table.rkey, table.landedAt),
    index('landings_by_time').on(table.landedAt),
  ],
)

/** Service-auth JWTs that have been used, until they are out of date: none is good twice. */
export const usedJwts = sqliteTable(
  'used_jwts',
  {
    /** SHA-256 of issuer and `jti`, hex. */
    hash: text('hash').primaryKey(),
    /** Milliseconds since 1970. */
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('used_jwts_by_end').on(table.expiresAt)],
)

import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { IS_SHOWN } from '../shown.ts'

/** Who an actor (a handle or a DID) was when it was last looked up. */
export const identities = sqliteTable(
  'identities',
  {
    actor: text('actor').primaryKey(),
    did: text('did').notNull(),
    handle: text('handle'),
    pds: text('pds').notNull(),
    /** Milliseconds since 1970. */
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('identities_by_end').on(table.expiresAt)],
)

/**
 * The `dev.skein.repo` records of accounts, as they were listed or came by the stream: what name is which repository. Of
 * several with one name in an account the one with the smallest record key has it, and the others are not shown.
 */
export const repositories = sqliteTable(
  'repositories',
  {
    /** Names the row in the full-text index. */
    id: integer('id').primaryKey(),
    did: text('did').notNull(),
    rkey: text('rkey').notNull(),
    name: text('name').notNull(),
    /** The name, and the words that it is made of, for the full-text index. */
    words: text('words').notNull(),
    /** The record as JSON. */
    record: text('record').notNull(),
    /** The newest time in `pushes`, in milliseconds since 1970; 0: there is none. Kept by triggers, as the next one. */
    pushedAt: integer('pushed_at').notNull().default(0),
    /** Bytes of its `packs`. */
    size: integer('size').notNull().default(0),
    /** 1: its account is shown, the operator has not blocked it, and it has its name; else 0. */
    shown: integer('shown').notNull().default(0),
  },
  (table) => [
    uniqueIndex('repositories_by_key').on(table.did, table.rkey),
    index('repositories_by_name').on(table.did, table.name, table.rkey),
    index('repositories_shown_by_name').on(table.did, table.name, table.rkey).where(IS_SHOWN),
    index('repositories_shown_by_push').on(table.did, table.pushedAt, table.rkey).where(IS_SHOWN),
    index('repositories_shown_by_key').on(table.did, table.rkey).where(IS_SHOWN),
    index('repositories_newest').on(table.rkey, table.did).where(IS_SHOWN),
    // And `repositories_named`, of names whatever their case, which drizzle-kit cannot write: see migrations/.
  ],
)

/** When an account's repositories were last listed. */
export const listings = sqliteTable('listings', {
  did: text('did').primaryKey(),
  /** Milliseconds since 1970. */
  listedAt: integer('listed_at').notNull(),
})

import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Who an actor (a handle or a DID) was when it was last looked up. */
export const identities = sqliteTable('identities', {
  actor: text('actor').primaryKey(),
  did: text('did').notNull(),
  handle: text('handle'),
  pds: text('pds').notNull(),
  /** Milliseconds since 1970. */
  expiresAt: integer('expires_at').notNull(),
})

/** The `dev.skein.repo` records of accounts, as they were last listed: what name is which repository. */
export const repositories = sqliteTable(
  'repositories',
  {
    did: text('did').notNull(),
    rkey: text('rkey').notNull(),
    name: text('name').notNull(),
    /** The record as JSON. */
    record: text('record').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.did, table.rkey] }),
    index('repositories_by_name').on(table.did, table.name),
  ],
)

/** When an account's repositories were last listed. */
export const listings = sqliteTable('listings', {
  did: text('did').primaryKey(),
  /** Milliseconds since 1970. */
  listedAt: integer('listed_at').notNull(),
})

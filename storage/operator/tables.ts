import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What the operator of this edge does not serve. Unlike most of D1 it is no copy: what is lost here is lost. */
export const blocks = sqliteTable('blocks', {
  /** DID of an account, or the at-uri of a repository's record. */
  subject: text('subject').primaryKey(),
  /** For whoever asks for it; may be empty. */
  reason: text('reason').notNull(),
  /** Milliseconds since 1970. */
  createdAt: integer('created_at').notNull(),
})

/** The mirrors that there are, by what their `Repository` objects have told: never ahead of them, and a little behind. */
export const mirrors = sqliteTable(
  'mirrors',
  {
    did: text('did').notNull(),
    rkey: text('rkey').notNull(),
    /** Of the packs that the account has of the repository. */
    bytes: integer('bytes').notNull(),
    /** When somebody last read or wrote it, to a day. Milliseconds since 1970, as what follows. */
    usedAt: integer('used_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.did, table.rkey] }), index('mirrors_by_use').on(table.usedAt)],
)

/** What all rows of `mirrors` come to. One row, kept by triggers. */
export const mirrorTotals = sqliteTable('mirror_totals', {
  id: integer('id').primaryKey(),
  /** Those of which there are bytes. */
  mirrors: integer('mirrors').notNull(),
  bytes: integer('bytes').notNull(),
})

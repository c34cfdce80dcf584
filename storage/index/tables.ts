import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { IS_SHOWN } from '../shown.ts'

/** Accounts that have repositories. Times are milliseconds since 1970, here and in all that follows. */
export const accounts = sqliteTable(
  'accounts',
  {
    did: text('did').primaryKey(),
    /** One that verifies in both directions, or null. */
    handle: text('handle'),
    /** Origin of the PDS; null: it has not been resolved yet. */
    pds: text('pds'),
    /** `active`, or why it is not served. One that is `deleted` keeps its row: it says that what comes late is void. */
    status: text('status').notNull().default('active'),
    /** When the status was so, by whoever said it. */
    statusAt: integer('status_at').notNull().default(0),
    /** When handle and PDS were resolved; 0: never. */
    resolvedAt: integer('resolved_at').notNull().default(0),
    /** Names that its `repositories` have. Kept by triggers, as the next one. */
    repositories: integer('repositories').notNull().default(0),
    /** Bytes of its `packs`. */
    size: integer('size').notNull().default(0),
    /** 1: it is active, and the operator has not blocked it; else 0. */
    shown: integer('shown').notNull().default(1),
  },
  (table) => [
    index('accounts_by_handle').on(table.handle),
    index('accounts_shown_by_handle').on(table.handle).where(IS_SHOWN),
  ],
)

/** Handles that accounts had before: links with them lead on. Kept by triggers. */
export const formerHandles = sqliteTable(
  'former_handles',
  {
    handle: text('handle').notNull(),
    did: text('did').notNull(),
    /** When the account was found to have another. */
    until: integer('until').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.handle, table.did] }),
    index('former_handles_by_account').on(table.did),
    index('former_handles_newest').on(table.handle, table.until),
  ],
)

/** Activity: the newest move of each ref, one row for each `dev.skein.ref`, and one for each shard of `dev.skein.refs`. */
export const pushes = sqliteTable(
  'pushes',
  {
    did: text('did').notNull(),
    /** Of the record. */
    rkey: text('rkey').notNull(),
    /** Record key of the repository. */
    repo: text('repo').notNull(),
    /** Full name; null: many refs at once. */
    ref: text('ref'),
    /** How many refs. */
    refs: integer('refs').notNull(),
    /** Null: the ref was deleted, or there are many. */
    target: text('target'),
    seq: integer('seq').notNull(),
    /** What the record says of it, which may be any time; null: nothing. */
    pushedAt: integer('pushed_at'),
    /** As the repository; 0 where there is none. */
    shown: integer('shown').notNull().default(1),
  },
  (table) => [
    primaryKey({ columns: [table.did, table.rkey] }),
    index('pushes_newest').on(table.pushedAt, table.did, table.rkey).where(IS_SHOWN),
    index('pushes_shown_by_account').on(table.did, table.pushedAt, table.rkey).where(IS_SHOWN),
    index('pushes_by_repository').on(table.did, table.repo, table.pushedAt),
  ],
)

/** One row for each `dev.skein.pack`. */
export const packs = sqliteTable(
  'packs',
  {
    did: text('did').notNull(),
    rkey: text('rkey').notNull(),
    /** Record key of the repository. */
    repo: text('repo').notNull(),
    /** In bytes, as the record says. */
    size: integer('size').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.did, table.rkey] }),
    index('packs_by_repository').on(table.did, table.repo, table.size),
  ],
)

/**
 * The newest event that was applied of each record, also of those that it deleted: what is older changes nothing any more.
 * Rows are dropped when they are older than any stream's backlog.
 */
export const recordRevs = sqliteTable(
  'record_revs',
  {
    did: text('did').notNull(),
    collection: text('collection').notNull(),
    rkey: text('rkey').notNull(),
    rev: text('rev').notNull(),
    /** When it was applied. */
    seenAt: integer('seen_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.did, table.collection, table.rkey] }),
    index('record_revs_by_time').on(table.seenAt),
  ],
)

/** What accounts were listed completely: events up to that rev change nothing any more. */
export const accountRevs = sqliteTable('account_revs', {
  did: text('did').primaryKey(),
  rev: text('rev').notNull(),
  /** When the listing began. */
  listedAt: integer('listed_at').notNull(),
})

/** Accounts that are to be listed. */
export const accountWants = sqliteTable(
  'account_wants',
  {
    did: text('did').primaryKey(),
    reason: text('reason').notNull(),
    wantedAt: integer('wanted_at').notNull(),
    tries: integer('tries').notNull().default(0),
    dueAt: integer('due_at').notNull(),
    /** Origin of the PDS, as far as it is known. */
    host: text('host'),
    /** Until when somebody lists it; 0, or past: nobody does. */
    atWorkUntil: integer('at_work_until').notNull().default(0),
  },
  (table) => [
    index('account_wants_by_due').on(table.dueAt, table.did),
    index('account_wants_by_host').on(table.host, table.dueAt),
    index('account_wants_at_work').on(table.host, table.atWorkUntil),
  ],
)

/** How often accounts were listed lately: by that it is judged when they may be again. Rows of a day ago are dropped. */
export const listingPauses = sqliteTable(
  'listing_pauses',
  {
    did: text('did').primaryKey(),
    /** One more with each listing, and less as time goes by. */
    level: real('level').notNull(),
    /** When the last listing began. */
    listedAt: integer('listed_at').notNull(),
  },
  (table) => [index('listing_pauses_by_time').on(table.listedAt)],
)

/** How far a listing of all accounts has come. */
export const reconciles = sqliteTable('reconciles', {
  /** Who lists them: a relay's origin, or what the operator calls the list. */
  source: text('source').primaryKey(),
  /** Of the next page; null: the first one. */
  cursor: text('cursor'),
  /** Accounts so far. */
  accounts: integer('accounts').notNull().default(0),
  startedAt: integer('started_at').notNull(),
  /** Null: it goes on. */
  finishedAt: integer('finished_at'),
})

/** How many records were not valid, and why. */
export const droppedRecords = sqliteTable(
  'dropped_records',
  {
    collection: text('collection').notNull(),
    /** Without what the record says itself. */
    reason: text('reason').notNull(),
    count: integer('count').notNull(),
    /** at-uri of the last one. */
    uri: text('uri').notNull(),
    droppedAt: integer('dropped_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.collection, table.reason] })],
)

/** Messages of the Queue that failed time and again. */
export const deadLetters = sqliteTable(
  'dead_letters',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    /** JSON. */
    payload: text('payload').notNull(),
    error: text('error').notNull(),
    diedAt: integer('died_at').notNull(),
  },
  (table) => [index('dead_letters_by_time').on(table.diedAt)],
)

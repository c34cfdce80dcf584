import { runSteps } from '../../storage/schema-steps.ts'

/**
 * Steps that bring a `Firehose` object's tables to their present form. Append only: an object that slept through several of
 * them runs those that it lacks, in order.
 */
const STEPS: readonly string[] = [
  `create table following (
     id integer primary key check (id = 0),
     upstream text not null,
     -- All up to here is in batches, or is nothing that is wanted; null: nothing was read yet.
     position integer,
     -- Why all accounts are to be listed, where that has not begun yet, and since when, in milliseconds since 1970.
     reconcile text,
     reconcile_at integer
   );
   -- What was sent and is not applied, or not known to be.
   create table batches (
     -- Never used again: an answer that comes late means none of the batches here.
     number integer primary key autoincrement,
     -- The position before it; what is read from there has it all.
     before integer,
     sent_at integer not null
   );`,
  // When the upstream was last connected, or begun to be followed, in milliseconds since 1970.
  `alter table following add column reached_at integer not null default 0;`,
]

export function migrateFirehose(sql: SqlStorage): void {
  runSteps(sql, STEPS)
}

import { runSteps } from '../../storage/schema-steps.ts'

/** Answers that take more are counted, in bytes: only conflicts do. It stands in an index, so another number needs another. */
export const LARGE_ANSWER = 16_384

/**
 * Steps that bring a `BranchQueue` object's tables to their present form. Append only: an object that slept through
 * several of them runs those that it lacks, in order.
 */
const STEPS: readonly string[] = [
  `-- Which branch this is, as it was last said.
   create table branch (
     id integer primary key check (id = 0),
     did text not null,
     rkey text not null,
     pds text not null,
     ref text not null
   );
   -- All times are in milliseconds since 1970.
   create table works (
     -- Their order; never used again.
     seq integer primary key autoincrement,
     ticket text not null unique,
     kind text not null,
     -- What it holds while it waits.
     bytes integer not null,
     handed_in integer not null,
     settled_at integer,
     submitter text not null,
     token text,
     label text,
     idempotency_key text unique,
     fingerprint text not null
   );
   create index waiting_works on works (seq) where settled_at is null;
   create index settled_works on works (settled_at) where settled_at is not null;
   -- The work while it waits, then its outcome: a row holds 2 MB at most.
   create table contents (
     work integer not null,
     number integer not null,
     bytes blob not null,
     primary key (work, number)
   );
   -- Landings that were sent, or were about to be, and of which it is not known that they are not in the account.
   create table attempts (
     id text primary key,
     -- Record key; null: it brought no pack.
     pack text,
     -- The ref before it; null: it never existed.
     from_seq integer,
     -- Where the branch was to be; null: it was to be deleted.
     tip text,
     made_at integer not null
   ) without rowid;
   create table attempt_works (
     attempt text not null,
     work integer not null,
     -- Where the branch was to be after the work, and was before.
     commit_oid text,
     tree text,
     parent text,
     primary key (attempt, work)
   ) without rowid;
   create index attempts_by_work on attempt_works (work);
   -- Why nothing is landed now.
   create table pause (
     id integer primary key check (id = 0),
     until integer not null,
     reason text not null,
     failures integer not null
   );
   -- What the audit has not been told yet.
   create table audit (
     seq integer primary key autoincrement,
     entry text not null
   );`,
  `-- From here on \`bytes\` is what a work holds also when it is settled. The answers that take room, the oldest first.
   create index large_answers on works (seq, bytes) where settled_at is not null and bytes > ${LARGE_ANSWER};`,
]

export function migrateQueue(sql: SqlStorage): void {
  runSteps(sql, STEPS)
}

/**
 * Steps that bring a `Repository` object's tables to their present form. Append only: an object that slept through
 * several of them runs those that it lacks, in order.
 */
const STEPS: readonly string[] = [
  `create table mirror (
     id integer primary key check (id = 0),
     did text not null,
     rkey text not null,
     pds text not null,
     record text not null,
     head integer,
     version integer not null,
     checked_at integer not null,
     swept_at integer not null,
     ingest_failures integer not null default 0
   );
   create table refs (
     name text primary key,
     target text,
     peeled text,
     seq integer not null,
     pack text,
     shard integer,
     shard_seq integer,
     state text not null check (state in ('unchecked', 'sound', 'broken'))
   ) without rowid;
   create table packs (
     id text primary key,
     size integer not null,
     objects integer not null,
     source text,
     state text not null check (state in ('wanted', 'ready', 'broken', 'gone'))
   ) without rowid;`,
]

export function migrateMirror(sql: SqlStorage): void {
  sql.exec('create table if not exists schema_steps (done integer not null)')
  const done = sql.exec<{ done: number }>('select count(*) as done from schema_steps').one().done
  for (const [i, step] of STEPS.entries()) {
    if (i < done) continue
    sql.exec(step)
    sql.exec('insert into schema_steps values (?)', i)
  }
}

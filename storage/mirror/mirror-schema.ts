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
     swept_at integer not null
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
     state text not null check (state in ('wanted', 'ready', 'broken'))
   ) without rowid;`,
  // Packs that the mirror makes of others. `position`: the order in which packs came to be ready. `made`: by the mirror
  // itself, so that the account knows no pack of this id. `settled`: it cannot be merged. `contained`: packs of the
  // account, and the pack that they are part of now. `superseded`: files in R2 that go when they are `due`.
  `alter table packs add column position integer;
   alter table packs add column made integer not null default 0;
   alter table packs add column settled integer not null default 0;
   update packs set position = (select count(*) from packs as older where older.id < packs.id) where state = 'ready';
   create table contained (id text primary key, pack text not null) without rowid;
   create table superseded (id text primary key, due integer not null) without rowid;
   create index unchecked_refs on refs (name) where state = 'unchecked';`,
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

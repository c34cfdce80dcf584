import { runSteps } from '../schema-steps.ts'

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
     state text not null check (state in ('wanted', 'ready', 'broken', 'gone', 'merged')),
     -- The order in which packs came to be ready. What a pack's deltas stand on was there before it.
     position integer,
     -- Of a merged pack: the pack that it is a part of now.
     container text,
     -- The mirror has made it of others, so that the account knows no pack of this id.
     made integer not null default 0,
     -- It was found that it cannot be merged.
     settled integer not null default 0
   ) without rowid;
   create index packs_by_state on packs (state, position);
   create index packs_by_container on packs (container) where container is not null;
   create index unchecked_refs on refs (name) where state = 'unchecked';
   -- Packs that no manifest names any more, and when their files in R2 may go (milliseconds since 1970).
   create table superseded (
     id text primary key,
     due integer not null
   ) without rowid;`,
  `-- The version at which what readers are shown of a ref was last another. A deleted ref keeps its row, since its seq goes
   -- on; so the row tells those who have the ref still, too.
   alter table refs add column changed integer not null default 0;
   create index refs_by_change on refs (changed);
   -- Since which version changes are known. Of what was here before, it is not known when it changed.
   alter table mirror add column changes_from integer not null default 0;
   update mirror set changes_from = version;
   create index annotated_refs on refs (peeled) where peeled is not null;
   create index broken_refs on refs (name) where state = 'broken';`,
  `-- Packs on their way from the account into R2. Those of which all is there have no upload.
   create table downloads (
     pack text primary key,
     upload text
   ) without rowid;
   create table download_parts (
     pack text not null,
     number integer not null,
     etag text not null,
     primary key (pack, number)
   ) without rowid;
   -- Packs of the account that are cut into several, and the parts that are done.
   create table splits (
     pack text primary key,
     stem text not null,
     entries integer not null
   ) without rowid;
   create table split_parts (
     pack text not null,
     number integer not null,
     id text not null,
     size integer not null,
     objects integer not null,
     -- Where the part ends in the pack.
     end integer not null,
     primary key (pack, number)
   ) without rowid;
   create index split_parts_by_id on split_parts (id);
   -- Which packs that the mirror has made an account's pack is in: one, or several if it was cut.
   create table containers (
     part text not null,
     container text not null,
     primary key (part, container)
   ) without rowid;
   create index parts_by_container on containers (container);
   insert into containers select id, container from packs where container is not null;
   drop index packs_by_container;
   alter table packs drop column container;
   -- A wanted pack that was left for the others, which may bring what its objects lack.
   alter table packs add column tried integer not null default 0;`,
  `-- The CID that the last blob in the part would have if it ended with the part. Parts without are not known to be good.
   alter table download_parts add column name text not null default '';
   delete from download_parts;
   delete from downloads where upload is not null;`,
  `-- Until when an ingest that failed, or was killed, is not taken up again by itself (milliseconds since 1970).
   alter table mirror add column ingest_due integer not null default 0;`,
  `-- Packs that have come, of which each may have what wanted ones lack, and how many there were when one was left for them.
   -- \`tried\` says how often it was left.
   alter table mirror add column brought integer not null default 0;
   alter table packs add column left_at integer not null default 0;`,
  `-- What else it takes to read a part without its index in memory: bytes of its index, and how many bases it does not have.
   alter table split_parts add column index_bytes integer not null default 0;
   alter table split_parts add column bases integer not null default 0;
   -- How far the parts are linked, as JSON; null: not at all.
   alter table splits add column links text;
   delete from split_parts;
   delete from splits;`,
  `-- Bytes of the packs that the account has of the repository, broken ones left out: added up as rows change, since there is
   -- one for each push. Those that the mirror has made are of the same bytes.
   create table account_bytes (
     id integer primary key check (id = 0),
     bytes integer not null
   );
   insert into account_bytes
     select 0, coalesce(sum(size), 0) from packs where made = 0 and state in ('wanted', 'ready', 'merged');
   create trigger packs_added after insert on packs when new.made = 0 and new.state in ('wanted', 'ready', 'merged') begin
     update account_bytes set bytes = bytes + new.size;
   end;
   create trigger packs_removed after delete on packs when old.made = 0 and old.state in ('wanted', 'ready', 'merged') begin
     update account_bytes set bytes = bytes - old.size;
   end;
   create trigger packs_changed after update of size, made, state on packs
   when old.made = 0 or new.made = 0 begin
     update account_bytes set bytes = bytes
       - iif(old.made = 0 and old.state in ('wanted', 'ready', 'merged'), old.size, 0)
       + iif(new.made = 0 and new.state in ('wanted', 'ready', 'merged'), new.size, 0);
   end;
   -- What the object knows beside the mirror, whether or not there is one: see \`Standing\`.
   create table standing (
     id integer primary key check (id = 0),
     blocked text,
     asked_at integer not null,
     used_at integer not null,
     others_bytes integer not null,
     told_bytes integer,
     told_used_at integer,
     refused_bytes integer,
     refused_at integer
   );`,
  `-- How often something was heard of the account by a stream, which drops events, since all of it was listed.
   alter table mirror add column heard integer not null default 0;`,
]

export function migrateMirror(sql: SqlStorage): void {
  runSteps(sql, STEPS)
}

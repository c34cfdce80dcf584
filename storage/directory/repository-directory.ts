import { and, asc, eq, lt, notInArray, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { Identity } from '../../atproto/identity/identity.ts'
import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import { CLOCK_SKEW, tidFromTime } from '../../atproto/records/tid.ts'
import { runBatch } from '../d1-batch.ts'
import { inParts } from '../d1-rows.ts'
import { accounts, recordRevs } from '../index/tables.ts'
import { hasName } from './has-name.ts'
import { type ListedName, ListedNames } from './listed-names.ts'
import { repositoryRow } from './repository-row.ts'
import { listings, repositories } from './tables.ts'

/** For how long an account is taken to be who it was when somebody resolved it. Milliseconds; as identities are cached. */
const IDENTITY_KEPT_FOR = 60 * 60_000

/** A repository of an account as it was last listed. */
export interface DirectoryEntry {
  readonly rkey: string
  readonly record: RepoRecord
}

/**
 * Which names an account's repositories have. A copy of the account's `dev.skein.repo` records, replaced as a whole
 * by each listing, and kept up to date by the index where it follows the account. Where two records claim one name, the
 * older one (the smaller key) has it, and there is no other here.
 */
export class RepositoryDirectory {
  readonly #db: DrizzleD1Database
  readonly #atHand: ListedNames

  /** @param atHand what the isolate has read so far */
  constructor(db: DrizzleD1Database, atHand = new ListedNames()) {
    this.#db = db
    this.#atHand = atHand
  }

  /** A repository that this isolate has looked up by its name a moment ago, or null. It costs nothing. */
  atHand(did: string, name: string): ListedName | null {
    return this.#atHand.of(did).get(name)
  }

  /** A repository by its name, and when the account was last listed (see `listedAt`). */
  async lookUp(did: string, name: string): Promise<{ entry: DirectoryEntry | null; listedAt: number }> {
    const names = this.#atHand.of(did)
    const readAt = Date.now()
    const [[row], [listing]] = await this.#db.batch([
      this.#byName(did, name),
      this.#db.select().from(listings).where(eq(listings.did, did)),
    ])
    const entry = row === undefined ? null : entryOf(row)
    const listedAt = listing?.listedAt ?? 0
    if (entry !== null) names.keep(name, { entry, listedAt }, readAt)
    return { entry, listedAt }
  }

  async find(did: string, name: string): Promise<DirectoryEntry | null> {
    const row = await this.#byName(did, name).get()
    return row === undefined ? null : entryOf(row)
  }

  #byName(did: string, name: string) {
    return this.#db
      .select()
      .from(repositories)
      .where(and(eq(repositories.did, did), eq(repositories.name, name)))
      .orderBy(asc(repositories.rkey))
      .limit(1)
  }

  async get(did: string, rkey: string): Promise<DirectoryEntry | null> {
    const row = await this.#db
      .select()
      .from(repositories)
      .where(and(eq(repositories.did, did), eq(repositories.rkey, rkey), hasName()))
      .get()
    return row === undefined ? null : entryOf(row)
  }

  async list(did: string): Promise<DirectoryEntry[]> {
    const rows = await this.#db
      .select()
      .from(repositories)
      .where(and(eq(repositories.did, did), hasName()))
      .orderBy(asc(repositories.rkey))
    return rows.map(entryOf)
  }

  /** When the account was last listed, in milliseconds since 1970; 0 if never. */
  async listedAt(did: string): Promise<number> {
    const row = await this.#db.select().from(listings).where(eq(listings.did, did)).get()
    return row?.listedAt ?? 0
  }

  /**
   * Takes over a whole listing of an account. What was created a short time before is left even if it is not listed: it
   * may have come after the listing was made, and its object will say if it is gone. What the index has heard of since the
   * listing began is left as it is, and all is if a newer listing has been taken over.
   *
   * @param listedAt when the listing began, in milliseconds since 1970
   * @param identity of the account, where it is known: it is noted if nothing newer is
   */
  async replace(
    did: string,
    entries: readonly DirectoryEntry[],
    listedAt: number,
    identity: Identity | null = null,
  ): Promise<void> {
    const rows = entries.map(({ rkey, record }) => {
      const { name, words, record: json } = repositoryRow(record)
      return [rkey, name, words, json]
    })
    const keys = JSON.stringify(entries.map(({ rkey }) => rkey))
    const isNewest = sql`not exists (select 1 from ${listings} where ${listings.did} = ${did} and ${listings.listedAt} > ${listedAt})`
    const isUntouched = (rkey: SQL) =>
      sql`not exists (select 1 from ${recordRevs} where ${recordRevs.did} = ${did} and ${recordRevs.collection} = ${REPO_COLLECTION} and ${recordRevs.rkey} = ${rkey} and ${recordRevs.seenAt} >= ${listedAt})`
    await runBatch(this.#db, [
      this.#db
        .delete(repositories)
        .where(
          and(
            eq(repositories.did, did),
            notInArray(repositories.rkey, sql`(select value from json_each(${keys}))`),
            lt(repositories.rkey, tidFromTime(Math.max(0, listedAt - CLOCK_SKEW) * 1000, 0)),
            isNewest,
            isUntouched(sql`${repositories.rkey}`),
          ),
        ),
      // One parameter for many rows: D1 takes a hundred, and an account may have thousands of repositories.
      ...inParts(rows).map(
        (part) =>
          sql`insert into ${repositories} (did, rkey, name, words, record)
            select ${did}, value->>0, value->>1, value->>2, value->>3 from json_each(${part})
            where ${isNewest} and ${isUntouched(sql`value->>0`)}
            on conflict (did, rkey) do update set name = excluded.name, words = excluded.words, record = excluded.record
            where record <> excluded.record`,
      ),
      ...(identity === null ? [] : [this.#noteIdentity(identity, listedAt)]),
      this.#db
        .insert(listings)
        .values({ did, listedAt })
        .onConflictDoUpdate({
          target: listings.did,
          set: { listedAt: sql`max(${listings.listedAt}, excluded.listed_at)` },
        }),
    ])
    this.#atHand.forget(did)
  }

  /**
   * What this edge has at hand may be an hour old: what was resolved since is left. That no handle is known may mean that it
   * could not be checked: none is taken away here.
   */
  #noteIdentity({ did, handle, pds }: Identity, now: number) {
    const row = { handle, pds, resolvedAt: now - IDENTITY_KEPT_FOR }
    return this.#db
      .insert(accounts)
      .values({ did, ...row })
      .onConflictDoUpdate({
        target: accounts.did,
        set: { ...row, handle: sql`coalesce(excluded.handle, ${accounts.handle})` },
        setWhere: sql`${accounts.resolvedAt} < excluded.resolved_at`,
      })
  }

  /** Notes a repository that was just created or changed through the edge, unless the index has heard that it is gone. */
  async put(did: string, { rkey, record }: DirectoryEntry): Promise<void> {
    const { name, words, record: json } = repositoryRow(record)
    await this.#db.run(
      sql`insert into ${repositories} (did, rkey, name, words, record)
        select ${did}, ${rkey}, ${name}, ${words}, ${json}
        where not exists (select 1 from ${recordRevs} where ${recordRevs.did} = ${did} and ${recordRevs.collection} = ${REPO_COLLECTION} and ${recordRevs.rkey} = ${rkey})
          or exists (select 1 from ${repositories} where ${repositories.did} = ${did} and ${repositories.rkey} = ${rkey})
        on conflict (did, rkey) do update set name = excluded.name, words = excluded.words, record = excluded.record`,
    )
    this.#atHand.forget(did)
  }
}

/** The record was checked before it was stored. */
function entryOf({ rkey, record }: { rkey: string; record: string }): DirectoryEntry {
  return { rkey, record: JSON.parse(record) as RepoRecord }
}

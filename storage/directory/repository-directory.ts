import { and, asc, eq, lt, notInArray, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { RepoRecord } from '../../atproto/records/record-types.ts'
import { CLOCK_SKEW, tidFromTime } from '../../atproto/records/tid.ts'
import { inParts } from '../d1-rows.ts'
import { type ListedName, ListedNames } from './listed-names.ts'
import { listings, repositories } from './tables.ts'

/** A repository of an account as it was last listed. */
export interface DirectoryEntry {
  readonly rkey: string
  readonly record: RepoRecord
}

/**
 * Which names an account's repositories have. A copy of the account's `dev.skein.repo` records, replaced as a whole
 * by each listing. Where two records claim one name, the older one (the smaller key) has it.
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
      .where(and(eq(repositories.did, did), eq(repositories.rkey, rkey)))
      .get()
    return row === undefined ? null : entryOf(row)
  }

  async list(did: string): Promise<DirectoryEntry[]> {
    const rows = await this.#db
      .select()
      .from(repositories)
      .where(eq(repositories.did, did))
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
   * may have come after the listing was made, and its object will say if it is gone.
   *
   * @param listedAt when the listing began, in milliseconds since 1970
   */
  async replace(did: string, entries: readonly DirectoryEntry[], listedAt: number): Promise<void> {
    const rows = entries.map(({ rkey, record }) => [rkey, record.name, JSON.stringify(record)])
    const keys = JSON.stringify(entries.map(({ rkey }) => rkey))
    await this.#db.batch([
      this.#db
        .delete(repositories)
        .where(
          and(
            eq(repositories.did, did),
            notInArray(repositories.rkey, sql`(select value from json_each(${keys}))`),
            lt(repositories.rkey, tidFromTime(Math.max(0, listedAt - CLOCK_SKEW) * 1000, 0)),
          ),
        ),
      // One parameter for many rows: D1 takes a hundred, and an account may have thousands of repositories.
      ...inParts(rows).map((part) =>
        this.#db
          .insert(repositories)
          .select(sql`select ${did}, value->>0, value->>1, value->>2 from json_each(${part}) where true`)
          .onConflictDoUpdate({
            target: [repositories.did, repositories.rkey],
            set: { name: sql`excluded.name`, record: sql`excluded.record` },
          }),
      ),
      this.#db
        .insert(listings)
        .values({ did, listedAt })
        .onConflictDoUpdate({ target: listings.did, set: { listedAt } }),
    ])
    this.#atHand.forget(did)
  }

  /** Notes a repository that was just created or changed through the edge. */
  async put(did: string, { rkey, record }: DirectoryEntry): Promise<void> {
    const row = { name: record.name, record: JSON.stringify(record) }
    await this.#db
      .insert(repositories)
      .values({ did, rkey, ...row })
      .onConflictDoUpdate({ target: [repositories.did, repositories.rkey], set: row })
    this.#atHand.forget(did)
  }
}

/** The record was checked before it was stored. */
function entryOf({ rkey, record }: { rkey: string; record: string }): DirectoryEntry {
  return { rkey, record: JSON.parse(record) as RepoRecord }
}

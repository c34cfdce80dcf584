import { and, asc, eq, gt, gte, lt, or, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { REPO_COLLECTION } from '../../atproto/records/collections.ts'
import { blocks } from './tables.ts'

/** What the operator blocks: an account with all that it has, or one repository (`rkey` of `dev.skein.repo`). */
export interface BlockSubject {
  readonly did: string
  readonly rkey: string | null
}

export interface Block extends BlockSubject {
  /** For whoever asks for it; may be empty. */
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** What of an account is blocked: reasons, which may be empty. */
export interface AccountBlocks {
  /** Null: the account is not. */
  readonly account: string | null
  /** By record key. */
  readonly repositories: Readonly<Record<string, string>>
}

/** The list of what this edge does not serve, in D1. */
export class BlockStore {
  readonly #db: DrizzleD1Database

  constructor(db: DrizzleD1Database) {
    this.#db = db
  }

  /** Blocks something; what is blocked already keeps its time, and gets the new reason. */
  async put({ reason, createdAt, ...subject }: Block): Promise<Block> {
    const row = { subject: subjectText(subject), reason, createdAt }
    const stored = await this.#db
      .insert(blocks)
      .values(row)
      .onConflictDoUpdate({ target: blocks.subject, set: { reason } })
      .returning()
      .get()
    return blockOf(stored)
  }

  /** @returns false: it was not blocked */
  async remove(subject: BlockSubject): Promise<boolean> {
    const removed = await this.#db
      .delete(blocks)
      .where(eq(blocks.subject, subjectText(subject)))
      .returning({ subject: blocks.subject })
    return removed.length > 0
  }

  /** In the order of subjects: repositories (at-uris) before accounts. @param after subject of the last of the page before */
  async list(limit: number, after = ''): Promise<Block[]> {
    const rows = await this.#db
      .select()
      .from(blocks)
      .where(gt(blocks.subject, after))
      .orderBy(asc(blocks.subject))
      .limit(limit)
    return rows.map(blockOf)
  }

  async of(did: string): Promise<AccountBlocks> {
    return accountBlocks(await selectBlocks(this.#db, did))
  }

  async count(): Promise<number> {
    return this.#db.$count(blocks)
  }
}

/** The query of what is blocked of an account, for a batch; its rows are for {@link accountBlocks}. */
export function selectBlocks(db: DrizzleD1Database, did: string) {
  // The character after the slash: between the two lie all record keys.
  const [first, end] = [repositoryUri(did, ''), `at://${did}/${REPO_COLLECTION}0`]
  return db
    .select()
    .from(blocks)
    .where(or(eq(blocks.subject, did), and(gte(blocks.subject, first), lt(blocks.subject, end))))
}

type BlockRow = typeof blocks.$inferSelect

export function accountBlocks(rows: readonly BlockRow[]): AccountBlocks {
  const found = rows.map(blockOf)
  return {
    account: found.find(({ rkey }) => rkey === null)?.reason ?? null,
    repositories: Object.fromEntries(found.flatMap(({ rkey, reason }) => (rkey === null ? [] : [[rkey, reason]]))),
  }
}

/** Why a repository is blocked, itself or with its account; null: it is not. */
export function blockReason({ account, repositories }: AccountBlocks, rkey: string): string | null {
  return account ?? repositories[rkey] ?? null
}

/** A subject as it is stored and shown: a DID, or the at-uri of a record. */
export function subjectText({ did, rkey }: BlockSubject): string {
  return rkey === null ? did : repositoryUri(did, rkey)
}

/** What {@link subjectText} has made; null for anything else. */
export function parseSubject(text: string): BlockSubject | null {
  if (/^did:[^/]+$/.test(text)) return { did: text, rkey: null }
  const [, did, collection, rkey] = /^at:\/\/(did:[^/]+)\/([^/]+)\/([A-Za-z0-9._:~-]+)$/.exec(text) ?? []
  return did !== undefined && collection === REPO_COLLECTION && rkey !== undefined ? { did, rkey } : null
}

/** For queries over what one account has: that a row of `blocks` is about one of its repositories. A range of their keys. */
export function blocksRepositoryOf(did: SQLiteColumn): SQL {
  // The character after the slash: between the two lie all record keys.
  const [first, end] = [`/${REPO_COLLECTION}/`, `/${REPO_COLLECTION}0`].map((part) => sql`'at://' || ${did} || ${part}`)
  return sql`${blocks.subject} > ${first} and ${blocks.subject} < ${end}`
}

/** The record key of the repository that such a row is about. */
export function blockedKey(did: SQLiteColumn): SQL {
  return sql`substr(${blocks.subject}, length(${did}) + ${repositoryUri('', '').length + 1})`
}

function repositoryUri(did: string, rkey: string): string {
  return `at://${did}/${REPO_COLLECTION}/${rkey}`
}

function blockOf({ subject, reason, createdAt }: BlockRow): Block {
  return { ...parseSubject(subject)!, reason, createdAt }
}

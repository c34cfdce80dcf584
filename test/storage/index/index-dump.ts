/** What the index holds, but for what it keeps for itself: equal for equal records, however they came. */
export async function dumpIndex(db: D1Database): Promise<Record<string, unknown[]>> {
  const rows = async (query: string) => (await db.prepare(query).all()).results
  return {
    repositories: await rows(
      'select did, rkey, name, words, record, pushed_at, size from repositories order by did, rkey',
    ),
    pushes: await rows('select * from pushes order by did, rkey'),
    packs: await rows('select * from packs order by did, rkey'),
    accounts: await rows(
      'select did, status, repositories, size from accounts where repositories > 0 or size > 0 order by did',
    ),
    search: await rows(
      'select v.term, v.col, v.offset, r.did, r.rkey from search_words v left join repositories r on r.id = v.doc order by 1, 2, 3, 4, 5',
    ),
  }
}

/** For {@link dumpIndex}: the words of the full-text index as rows. */
export async function showSearchWords(db: D1Database): Promise<void> {
  await db
    .prepare(`create virtual table if not exists search_words using fts5vocab('repository_search', 'instance')`)
    .run()
}

export async function emptyIndex(db: D1Database): Promise<void> {
  const names = [
    'packs',
    'pushes',
    'repositories',
    'accounts',
    'record_revs',
    'account_revs',
    'account_wants',
    'listing_pauses',
  ]
  const further = ['dropped_records', 'former_handles', 'listings', 'identities', 'dead_letters']
  await db.batch([...names, ...further].map((name) => db.prepare(`delete from ${name}`)))
}

/** What is to be listed, as its row says; null: it is not. */
export async function findWant(
  db: D1Database,
  did: string,
): Promise<{ wantedAt: number; tries: number; dueAt: number; reason: string; host: string | null } | null> {
  return db
    .prepare('select wanted_at as wantedAt, tries, due_at as dueAt, reason, host from account_wants where did = ?')
    .bind(did)
    .first()
}

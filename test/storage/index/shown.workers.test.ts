import { env } from 'cloudflare:test'
import { expect, it } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import { showSearchWords } from './index-dump.ts'
import { didOf, randomNumbers } from './random-stream.ts'

const { DB } = env as unknown as Environment

/** Rows of which the columns `shown`, or the full-text index, say something else than what they come from. */
const WRONG = [
  `select 'account', did, '' from accounts a
    where shown <> (status = 'active' and not exists (select 1 from blocks where subject = did))`,
  `select 'repository', r.did, r.rkey from repositories r join accounts a on a.did = r.did
    where r.shown <> (a.status = 'active'
      and not exists (select 1 from blocks where subject in (r.did, 'at://' || r.did || '/dev.skein.repo/' || r.rkey))
      and not exists (select 1 from repositories o where o.did = r.did and o.name = r.name and o.rkey < r.rkey))`,
  `select 'push', p.did, p.rkey from pushes p
    where p.shown <> exists (select 1 from repositories r where r.did = p.did and r.rkey = p.repo and r.shown = 1)`,
  `select 'named', v.doc, v.term from name_words v
    where not exists (select 1 from repositories r where r.id = v.doc and r.shown = 1 and r.words = v.term)`,
  `select 'not named', r.id, r.words from repositories r
    where r.shown = 1 and not exists (select 1 from name_words v where v.doc = r.id)`,
  `select 'found', v.doc, v.term from search_words v
    where v.doc not in (select id from repositories where shown = 1)`,
  `select 'not found', r.id, r.name from repositories r
    where r.shown = 1 and not exists (select 1 from search_words v where v.doc = r.id and v.col = 'name' and v.term = r.words)`,
]

/** A change by whoever writes these tables, at random. */
function change(random: (bound: number) => number): D1PreparedStatement {
  const did = didOf(1 + random(2))
  const rkey = `r${random(5)}`
  const subject = random(2) === 0 ? did : `at://${did}/dev.skein.repo/${rkey}`
  const push = `${rkey}:${random(2)}`
  const [statement, ...values] = [
    () => put(did, rkey, `n${random(3)}`),
    () => put(did, rkey, `n${random(3)}`),
    () => put(did, rkey, `n${random(3)}`),
    () => ['delete from repositories where did = ? and rkey = ?', did, rkey],
    () => ["insert into blocks values (?, '', 1) on conflict do update set reason = 'again'", subject],
    () => ['delete from blocks where subject = ?', subject],
    () => ['delete from blocks where subject = ?', did],
    () => ['update accounts set status = ? where did = ?', random(3) === 0 ? 'takendown' : 'active', did],
    () => ['update accounts set handle = ? where did = ?', `h${random(3)}.test`, did],
    () => [
      'insert into pushes (did, rkey, repo, refs, seq, pushed_at) values (?, ?, ?, 1, 1, ?) on conflict (did, rkey) do update set pushed_at = excluded.pushed_at',
      did,
      push,
      rkey,
      random(100),
    ],
    () => ['delete from pushes where did = ? and rkey = ?', did, push],
  ][random(11)]!() as [string, ...(string | number)[]]
  return DB.prepare(statement).bind(...values)
}

function put(did: string, rkey: string, name: string): (string | number)[] {
  const statement = `insert into repositories (did, rkey, name, words, record) values (?, ?, ?, ?, '{}')
    on conflict (did, rkey) do update set name = excluded.name, words = excluded.words`
  return [statement, did, rkey, name, name]
}

it('what is shown follows from accounts, blocks and names, whatever changes in whatever order', async () => {
  await showSearchWords(DB)
  await DB.exec("create virtual table name_words using fts5vocab('repository_names', 'instance')")
  const random = randomNumbers(5)
  let shown = 0
  for (let step = 0; step < 250; step++) {
    const statement = change(random)
    const [, count, ...wrong] = await DB.batch<Record<string, unknown>>([
      statement,
      DB.prepare('select count(*) as count from pushes where shown = 1'),
      ...WRONG.map((query) => DB.prepare(query)),
    ])
    expect({ step, wrong: wrong.flatMap(({ results }) => results) }).toEqual({ step, wrong: [] })
    shown += count!.results[0]!.count as number
  }
  // Else nothing was tried.
  expect(shown).toBeGreaterThan(100)
})

it('a name that thousands of records of an account claim costs each of them no more than one', async () => {
  const count = 3000
  const rows = JSON.stringify(Array.from({ length: count }, (_, i) => `k${String(count - i).padStart(5, '0')}`))
  const insert = DB.prepare(
    "insert into repositories (did, rkey, name, words, record) select ?1, value, 'same', 'same', '{}' from json_each(?2) where true",
  )
  const { meta } = await insert.bind(didOf(9), rows).run()
  expect(meta.rows_read / count).toBeLessThan(60)
  const left = await DB.prepare('select rkey from repositories where did = ? and shown = 1').bind(didOf(9)).all()
  expect(left.results).toEqual([{ rkey: 'k00001' }])
})

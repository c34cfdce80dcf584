import { tidFromTime } from '../../atproto/records/tid.ts'
import { repositoryRow } from '../../storage/directory/repository-row.ts'

/** Repositories of a network that is not there, the same each time: words as unequally common as in real ones. */
export interface SyntheticRepository {
  readonly did: string
  readonly handle: string
  readonly rkey: string
  readonly name: string
  readonly words: string
  readonly record: string
  /** Milliseconds since 1970; null: nobody has pushed. */
  readonly pushedAt: number | null
}

/** In descriptions of nearly all. */
export const COMMON_WORDS = ['a', 'the', 'for', 'simple', 'and', 'git', 'app', 'library', 'tool', 'server']
const TOPICS = ['atproto', 'typescript', 'rust', 'cli', 'web', 'games', 'maths', 'machine-learning', 'fonts', 'maps']
const SYLLABLES = [
  'ka',
  'lo',
  'mi',
  'ren',
  'tu',
  'sha',
  'vel',
  'or',
  'bit',
  'fin',
  'gra',
  'hob',
  'jun',
  'pex',
  'qua',
  'zem',
]
const WORDS = 4_000
const ACCOUNTS = 5_000
const START = 1_780_000_000_000
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Word number `n`; the smaller, the more common. */
export function word(n: number): string {
  if (n < COMMON_WORDS.length) return COMMON_WORDS[n]!
  let text = ''
  for (let rest = n * 7 + 3; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    text += SYLLABLES[rest % SYLLABLES.length]
  return text
}

export function* syntheticRepositories(count: number): Generator<SyntheticRepository> {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  // Zipf's law, about: a word's share falls with its rank.
  const anyWord = () => word(Math.floor(WORDS ** random()) - 1)
  for (let i = 0; i < count; i++) {
    const account = Math.floor(random() * ACCOUNTS)
    const created = START + i * 60_000
    const name = Array.from({ length: 1 + Math.floor(random() * 3) }, anyWord).join('-')
    const row = repositoryRow({
      name,
      description: `${Array.from({ length: 4 + Math.floor(random() * 12) }, anyWord).join(' ')}`,
      topics: Array.from(
        { length: Math.floor(random() * 4) },
        () => TOPICS[Math.floor(TOPICS.length * random() ** 2)]!,
      ),
      defaultBranch: 'main',
      objectFormat: 'sha1',
      createdAt: new Date(created).toISOString(),
    })
    yield {
      did: didOf(account),
      handle: `${word(account + 20)}${account}.host.test`,
      rkey: tidFromTime(created * 1000, i % 1024),
      ...row,
      pushedAt: random() < 0.2 ? null : created + Math.floor(random() * 1e9),
    }
  }
}

function didOf(account: number): string {
  let text = ''
  for (let rest = account; text.length < 24; rest = Math.floor(rest / 32)) text += BASE32[rest % 32]
  return `did:plc:${text}`
}

/** Rows that one statement inserts. */
const AT_ONCE = 1_000

/** Fills an index, its tables being empty. */
export async function seedRepositories(db: D1Database, count: number): Promise<void> {
  const repositories = db.prepare(
    'insert into repositories (did, rkey, name, words, record) select value->>0, value->>1, value->>2, value->>3, value->>4 from json_each(?) where true',
  )
  const accounts = db.prepare(
    "insert into accounts (did, handle, pds, resolved_at) select value->>0, value->>1, 'https://pds.test', 1 from json_each(?) where true on conflict do nothing",
  )
  const pushes = db.prepare(
    "insert into pushes (did, rkey, repo, ref, refs, target, seq, pushed_at) select value->>0, value->>1 || ':' || ?2 || ':1', value->>1, 'refs/heads/main', 1, ?3, 1, value->>5 from json_each(?1) where value->>5 is not null",
  )
  let rows: (string | number | null)[][] = []
  const flush = async () => {
    const json = JSON.stringify(rows)
    const owners = JSON.stringify(rows.map((row) => [row[0]!, row[6]!]))
    await db.batch([accounts.bind(owners), repositories.bind(json), pushes.bind(json, '0'.repeat(32), '1'.repeat(40))])
    rows = []
  }
  for (const { did, rkey, name, words, record, pushedAt, handle } of syntheticRepositories(count)) {
    rows.push([did, rkey, name, words, record, pushedAt, handle])
    if (rows.length === AT_ONCE) await flush()
  }
  if (rows.length > 0) await flush()
}

import {
  PACK_COLLECTION,
  REF_COLLECTION,
  REFS_COLLECTION,
  REPO_COLLECTION,
} from '../../../atproto/records/collections.ts'
import { packKey, refKey, refsKey } from '../../../atproto/records/record-keys.ts'

interface HostileRecord {
  readonly collection: string
  readonly rkey: string
  readonly value: unknown
}

const TID = '3lzkoq5qq2s2b'
const LONG = 'a'.repeat(1_000_000)
/** Texts that break one thing or another. */
const TEXTS = [
  '\0',
  'before\0after',
  '\ud800',
  'a\udc00b',
  '\u202edrawkcab\u2066',
  '\x1b[31mred',
  '\ufeff\ufffe\uffff',
  '"; drop table repositories; --',
  '{"$bytes":"x"}',
  '🏳️‍🌈'.repeat(70),
  'e\u0301\u0302'.repeat(50),
]

/** Records that strangers could write, valid and not. @param rkey TID of the repository that they are of */
export function hostileRecords(rkey: string): HostileRecord[] {
  const repo = {
    $type: REPO_COLLECTION,
    name: 'app',
    defaultBranch: 'main',
    objectFormat: 'sha1',
    createdAt: '2026-01-01T00:00:00Z',
  }
  const pack = {
    $type: PACK_COLLECTION,
    size: 32,
    objects: 0,
    checksum: '0'.repeat(40),
    thin: false,
    createdAt: '9999-12-31T23:59:59Z',
  }
  const ref = { $type: REF_COLLECTION, name: 'refs/heads/main', seq: 1, target: '1'.repeat(40) }
  const bytes = { $bytes: Buffer.alloc(32).toString('base64') }
  const blob = (size: number) => ({
    $type: 'blob',
    ref: { $link: 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy' },
    mimeType: '*/*',
    size,
  })
  const values: [string, string, unknown][] = [
    ...[0, 1.5, '', 'x', [], [repo], {}, { $type: 'x' }, true].flatMap((value): [string, string, unknown][] => [
      [REPO_COLLECTION, rkey, value],
      [PACK_COLLECTION, packKey(rkey, TID), value],
      [REF_COLLECTION, refKey(rkey, 'refs/heads/main', 1), value],
      [REFS_COLLECTION, refsKey(rkey, 3, 1), value],
    ]),
    ...['a/b', '..', '.', 'x.git', '', ' ', ...TEXTS, LONG].map((name): [string, string, unknown] => [
      REPO_COLLECTION,
      rkey,
      { ...repo, name },
    ]),
    ...[...TEXTS, LONG].flatMap((text): [string, string, unknown][] => [
      [REPO_COLLECTION, rkey, { ...repo, description: text }],
      [REPO_COLLECTION, rkey, { ...repo, topics: [text], defaultBranch: text }],
      [REPO_COLLECTION, rkey, { ...repo, [text]: text }],
      [REF_COLLECTION, refKey(rkey, `refs/heads/${text}`, 1), { ...ref, name: `refs/heads/${text}` }],
      [REF_COLLECTION, refKey(rkey, 'refs/heads/main', 1), { ...ref, landing: text, pack: text }],
    ]),
    [REPO_COLLECTION, rkey, { ...repo, topics: Array.from({ length: 5_000 }, (_, i) => `t${i}`) }],
    [REPO_COLLECTION, rkey, { ...repo, topics: Array.from({ length: 20 }, () => 'x'.repeat(100)) }],
    ...['9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z', '2026-13-45T99:99:99Z', '-1', LONG].map(
      (createdAt): [string, string, unknown] => [REPO_COLLECTION, rkey, { ...repo, createdAt }],
    ),
    ...['x', 'self', '~', '.', ':', '日', '', 'a/b', '\0', '\ud800', 'a'.repeat(600)].flatMap(
      (odd): [string, string, unknown][] => [
        [REPO_COLLECTION, odd, repo],
        [PACK_COLLECTION, odd, { ...pack, bytes }],
        [REF_COLLECTION, odd, ref],
        [REFS_COLLECTION, odd, { $type: REFS_COLLECTION, entries: [] }],
      ],
    ),
    [PACK_COLLECTION, packKey(rkey, TID), { ...pack, bytes }],
    [PACK_COLLECTION, packKey(rkey, 'jzzzzzzzzzzzz'), { ...pack, bytes }],
    [PACK_COLLECTION, packKey(rkey, TID), { ...pack, bytes, size: 2 ** 53 - 1 }],
    [PACK_COLLECTION, packKey(rkey, TID), { ...pack, parts: [blob(2 ** 53 - 1)], size: 2 ** 53 - 1 }],
    [PACK_COLLECTION, packKey(rkey, TID), { ...pack, parts: [blob(2 ** 40)], size: 2 ** 40 }],
    [PACK_COLLECTION, packKey(rkey, TID), { ...pack, bytes, parts: [blob(32)] }],
    [PACK_COLLECTION, packKey(rkey, TID), { ...pack, size: -1, bytes }],
    [REF_COLLECTION, refKey(rkey, 'refs/heads/main', 1), { ...ref, landing: 'jzzzzzzzzzzzz' }],
    [REF_COLLECTION, refKey(rkey, 'refs/heads/main', 1), { ...ref, landing: '2222222222222' }],
    [REF_COLLECTION, refKey(rkey, 'refs/heads/main', 2 ** 53 - 1), { ...ref, seq: 2 ** 53 - 1 }],
    [
      REFS_COLLECTION,
      refsKey(rkey, 2 ** 53 - 1, 1),
      { $type: REFS_COLLECTION, entries: [{ ...ref, name: '\ud800' }, ref] },
    ],
  ]
  return values.map(([collection, key, value]) => ({ collection, rkey: key, value }))
}

import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { concatBytes } from '../../git/bytes/concat.ts'
import { oidToBytes } from '../../git/bytes/oid.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import { ingestPack } from '../../git/graph/ingest-pack.ts'
import { hashObject } from '../../git/object/hash-object.ts'
import { BLOB, COMMIT, type ObjectType, TAG, TREE } from '../../git/object/object-type.ts'
import { encodeEntryHeader, OFS_DELTA, REF_DELTA } from '../../git/pack/entry-header.ts'
import { PACK_MAGIC } from '../../git/pack/scan-pack.ts'
import { pktLine } from '../../git/protocol/pkt-line.ts'

const encoder = new TextEncoder()
const WHO = 'Alice <alice@example.com> 1700000000 +0100'

/** One entry of a pack before it is compressed. */
export interface SeedEntry {
  readonly type: number
  /** Between header and data: the base of a delta. */
  readonly base: Uint8Array
  readonly bytes: Uint8Array
}

/** What is mutated: all of it is right. */
export interface Seeds {
  readonly entries: readonly SeedEntry[]
  readonly pack: Uint8Array
  readonly index: Uint8Array
  readonly graph: Uint8Array
  readonly commit: Uint8Array
  readonly tree: Uint8Array
  readonly tag: Uint8Array
  readonly base: Uint8Array
  readonly delta: Uint8Array
  readonly compressed: Uint8Array
  readonly uploadV0: Uint8Array
  readonly receive: Uint8Array
  readonly commands: readonly Uint8Array[]
}

export async function makeSeeds(): Promise<Seeds> {
  const base = encoder.encode('a line that is said again and again\n'.repeat(20))
  const blob = hashObject(BLOB, base)
  // 720 bytes from 720: a copy of 600, 3 bytes of its own, and a copy of 117.
  const delta = Uint8Array.of(0xd0, 5, 0xd0, 5, 0xb0, 0x58, 2, 3, 65, 66, 67, 0x93, 0x5b, 2, 117)
  const tree = concatBytes([
    encoder.encode('100644 a.txt\0'),
    oidToBytes(blob),
    encoder.encode('120000 link\0'),
    oidToBytes(blob),
  ])
  const treeOid = hashObject(TREE, tree)
  const root = encoder.encode(`tree ${treeOid}\nauthor ${WHO}\ncommitter ${WHO}\n\nroot\n`)
  const rootOid = hashObject(COMMIT, root)
  const commit = encoder.encode(
    `tree ${treeOid}\nparent ${rootOid}\nauthor ${WHO}\ncommitter ${WHO}\nencoding ISO-8859-1\ngpgsig -----BEGIN\n x\n -----END\n\nsecond\n`,
  )
  const commitOid = hashObject(COMMIT, commit)
  const tag = encoder.encode(`object ${commitOid}\ntype commit\ntag v1\ntagger ${WHO}\n\nfirst\n`)
  const whole = { base: new Uint8Array(0) }
  const entries: SeedEntry[] = [
    { type: BLOB, ...whole, bytes: base },
    { type: TREE, ...whole, bytes: tree },
    { type: COMMIT, ...whole, bytes: root },
    { type: COMMIT, ...whole, bytes: commit },
    { type: TAG, ...whole, bytes: tag },
    { type: REF_DELTA, base: oidToBytes(blob), bytes: delta },
  ]
  const plain = packOf(entries)
  // The delta once more, on the entry that starts right after the pack's header.
  const distance = plain.length - 20 - 12
  entries.push({ type: OFS_DELTA, base: encodeDistance(distance), bytes: delta })
  const pack = packOf(entries)
  const { index, graph } = await ingestPack({
    chunks: chunksOf(pack),
    reopen: async () => new BufferRange(pack),
    known: null,
    strict: false,
  })
  return {
    entries,
    pack,
    index,
    graph,
    commit,
    tree,
    tag,
    base,
    delta,
    ...requests(commitOid, rootOid),
    compressed: deflateSync(base),
  }
}

export function packOf(entries: readonly SeedEntry[]): Uint8Array {
  const header = new Uint8Array(12)
  const view = new DataView(header.buffer)
  view.setUint32(0, PACK_MAGIC)
  view.setUint32(4, 2)
  view.setUint32(8, entries.length)
  const parts = entries.flatMap(({ type, base, bytes }) => [
    encodeEntryHeader(type as ObjectType, bytes.length),
    base,
    deflateSync(bytes),
  ])
  const body = concatBytes([header, ...parts])
  return concatBytes([body, createHash('sha1').update(body).digest()])
}

export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** As gitformat-pack has it: big-endian groups of 7 bits, with one added for each that follows. */
function encodeDistance(distance: number): Uint8Array {
  const bytes = [distance & 127]
  for (let rest = distance >> 7; rest > 0; rest >>= 7) bytes.unshift(128 | (--rest & 127))
  return Uint8Array.from(bytes)
}

const FLUSH = encoder.encode('0000')
const DELIMITER = encoder.encode('0001')

function requests(want: string, have: string) {
  const lines = (...texts: string[]) => texts.map((text) => pktLine(text))
  const command = (name: string, ...args: string[]) =>
    concatBytes([
      ...lines(`command=${name}\n`, 'agent=git/2.50', 'object-format=sha1'),
      DELIMITER,
      ...lines(...args),
      FLUSH,
    ])
  return {
    uploadV0: concatBytes([
      ...lines(
        `want ${want} multi_ack_detailed side-band-64k thin-pack ofs-delta filter agent=git/2.50\n`,
        `shallow ${have}\n`,
      ),
      ...lines('deepen 3\n', 'filter blob:limit=1k\n'),
      FLUSH,
      ...lines(`have ${have}\n`, 'done\n'),
    ]),
    receive: concatBytes([
      ...lines(`${have} ${want} refs/heads/main\0report-status push-options atomic`, `${have} ${want} refs/tags/v1`),
      FLUSH,
      ...lines('an option'),
      FLUSH,
    ]),
    commands: [
      command(
        'fetch',
        'thin-pack\n',
        `want ${want}\n`,
        `have ${have}\n`,
        'deepen-since 1700000000\n',
        'filter combine:tree:3+blob:none\n',
        'want-ref refs/heads/main\n',
        'done\n',
      ),
      command('ls-refs', 'peel\n', 'symrefs\n', 'unborn\n', 'ref-prefix refs/heads/\n', 'ref-prefix HEAD\n'),
      command('object-info', 'size\n', `oid ${want}\n`),
    ],
  }
}

import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { Bitmap } from '../../../git/bytes/bitmap.ts'
import { type Oid, oidToBytes } from '../../../git/bytes/oid.ts'
import { BufferRange, type ByteRange, readPieces } from '../../../git/bytes/range.ts'
import type { PackHandle } from '../../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { encodeEntryHeader, REF_DELTA } from '../../../git/pack/entry-header.ts'
import type { Selection } from '../../../git/pack/object-place.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { type WritePackOptions, writePack } from '../../../git/pack/write-pack.ts'
import { planFetch } from '../../../git/walk/plan-fetch.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { ingest, ingestAll, packOf, seededRandom } from '../packs.ts'
import { concat } from '../protocol/wire.ts'

const BLOB = 3

/** Counts the objects that are read because a delta cannot be copied. */
class CountedObjects implements ObjectSource {
  reads = 0
  readonly #objects: PackedObjects

  constructor(packs: readonly PackHandle[]) {
    this.#objects = new PackedObjects(packs)
  }

  read(oid: Oid) {
    this.reads++
    return this.#objects.read(oid)
  }

  stat(oid: Oid) {
    return this.#objects.stat(oid)
  }
}

/** Counts reads, and how many of them are under way at once. */
class CountedRange implements ByteRange {
  readonly size: number
  reads = 0
  bytes = 0
  most = 0
  /** Spans that are being read. */
  open = 0
  readonly #range: ByteRange
  #underWay = 0

  constructor(range: ByteRange) {
    this.#range = range
    this.size = range.size
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.reads++
    this.bytes += length
    this.most = Math.max(this.most, ++this.#underWay)
    const bytes = await this.#range.read(offset, length)
    this.#underWay--
    return bytes
  }

  stream(offset: number, length: number): ReadableStream<Uint8Array> {
    return this.#range.stream(offset, length)
  }

  async *pieces(offset: number, length: number, pieceBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    this.open++
    const given: Uint8Array[] = []
    try {
      for await (const piece of readPieces(this, offset, length, pieceBytes)) {
        given.push(Uint8Array.from(piece))
        yield given.at(-1)!
        // It need not be there any longer: the second after it is asked for.
        given.at(-2)?.fill(0xff)
      }
    } finally {
      this.open--
    }
  }
}

/** Everything in these packs but what `omit` names, each object in the oldest pack that has it. */
function selectAll(packs: readonly PackHandle[], omit: readonly Oid[] = []): Selection {
  const seen = new Set(omit)
  return packs.map(({ index }) => {
    const ordinals = new Bitmap(index.entries)
    for (let ordinal = 0; ordinal < index.entries; ordinal++) {
      const oid = index.oid(ordinal)
      if (!seen.has(oid)) ordinals.set(index.find(oidToBytes(oid)))
      seen.add(oid)
    }
    return ordinals
  })
}

async function write(packs: readonly PackHandle[], selection: Selection, options: Partial<WritePackOptions> = {}) {
  const objects = new CountedObjects(packs)
  const pack = writePack(packs, selection, { ofsDelta: true, client: null, objects, ...options })
  const chunks: Uint8Array[] = []
  for await (const chunk of pack.chunks()) chunks.push(Uint8Array.from(chunk))
  return { ...pack, bytes: concat(chunks), chunks, reads: objects.reads }
}

/** What git finds in a pack that stands alone: lines of id, type, size and, for deltas, depth and base. */
function verify(pack: Uint8Array): { oid: Oid; base: Oid | null }[] {
  using repository = new ScratchRepository({ bare: true })
  const name = repository.text(['index-pack', '--stdin'], pack).split('\t')[1]!
  const listing = repository.text(['verify-pack', '-v', `objects/pack/pack-${name}.idx`])
  return listing
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([oid]) => /^[0-9a-f]{40}$/.test(oid!))
    .map((fields) => ({ oid: fields[0]!, base: fields[6] ?? null }))
}

/** A file of some size whose versions differ by a line, as commits of a repository. */
function versions(repository: ScratchRepository, count: number, size: number, random = seededRandom(1)): Oid[] {
  const lines = Array.from({ length: size / 50 }, () => Array.from({ length: 5 }, () => random(2 ** 30)).join(' '))
  const stream: string[] = []
  for (let version = 0; version < count; version++) {
    lines[random(lines.length)] = `version ${version}`
    const content = `${lines.join('\n')}\n`
    stream.push('commit refs/heads/main', `committer A <a@example.com> ${1_700_000_000 + version} +0000`)
    stream.push('data 1\nx', `M 100644 inline file${version % 3}\ndata ${content.length}\n${content}`)
  }
  repository.git(['fast-import', '--quiet'], `${stream.join('\n')}\n`)
  return repository.text(['rev-list', '--reverse', 'main']).split('\n')
}

function isThin({ index }: PackHandle): boolean {
  return Array.from({ length: index.entries }, (_, ordinal) => index.base(ordinal)).some(
    (base) => base !== null && 'oid' in base,
  )
}

/** A pack of entries as they are given. */
function rawPack(entries: readonly Uint8Array[]): Uint8Array {
  const header = new Uint8Array(12)
  header.set([0x50, 0x41, 0x43, 0x4b, 0, 0, 0, 2, 0, 0, entries.length >> 8, entries.length & 255])
  const body = concat([header, ...entries])
  return concat([body, createHash('sha1').update(body).digest()])
}

function blobEntry(text: string): Uint8Array {
  return concat([encodeEntryHeader(BLOB, text.length), deflateSync(text)])
}

function blobId(text: string): Oid {
  return createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex')
}

/** A delta that gives `text`, whatever its base of `baseSize` bytes. */
function refDelta(base: Oid, baseSize: number, text: string): Uint8Array {
  const delta = Uint8Array.of(baseSize, text.length, text.length, ...new TextEncoder().encode(text))
  return concat([encodeEntryHeader(REF_DELTA, delta.length), oidToBytes(base), deflateSync(delta)])
}

describe('writePack', GIT_TIME, () => {
  it('sends a pack as it is when all of it is wanted', async () => {
    using repository = new ScratchRepository()
    versions(repository, 30, 5000)
    const bytes = packOf(repository, ['main'])
    const packs = await ingestAll([bytes])
    const pack = await write(packs, selectAll(packs))
    expect(pack).toMatchObject({ objects: 90, verbatim: true, reads: 0 })
    expect(pack.bytes).toEqual(new Uint8Array(bytes))
  })

  it('writes an empty pack', async () => {
    const pack = await write([], [])
    expect(pack.objects).toBe(0)
    expect(pack.bytes).toEqual(rawPack([]))
  })

  it('copies deltas whose distance to the base has changed', async () => {
    using repository = new ScratchRepository()
    const commits = versions(repository, 40, 5000)
    const packs = await ingestAll([packOf(repository, ['main'])])
    const { index } = packs[0]!
    // Commits are whole and lie before everything: without some of them all else moves by different distances.
    const trees = Array.from({ length: index.entries }, (_, i) => i).filter(
      (i) => index.type(i) === 2 && !index.isDelta(i),
    )
    const omitted = [...commits.slice(5, 9), ...trees.slice(0, 2).map((i) => index.oid(i))]
    const needed = new Set(
      Array.from({ length: index.entries }, (_, i) => index.baseOrdinal(i)).map((i) => (i < 0 ? '' : index.oid(i))),
    )
    const pack = await write(
      packs,
      selectAll(
        packs,
        omitted.filter((oid) => !needed.has(oid)),
      ),
    )
    expect(pack).toMatchObject({ verbatim: false, reads: 0 })
    using receiver = new ScratchRepository({ bare: true })
    receiver.git(['index-pack', '--stdin'], pack.bytes)
    expect(receiver.text(['count-objects', '-v'])).toContain(`in-pack: ${pack.objects}`)
  })

  it('clones the older half of a history without a look into most objects', async () => {
    using repository = new ScratchRepository()
    const commits = versions(repository, 60, 5000)
    const packs = await ingestAll([packOf(repository, ['main'])])
    const graph = new RepositoryGraph(packs)
    const plan = await planFetch(graph, { wants: [commits[30]!], haves: [] }, new PackedObjects(packs))
    const pack = await write(packs, plan.selection)
    expect(pack.objects).toBe(31 * 3)
    // Git's deltas go from the newer to the older version: one chain a file and one of trees is cut.
    expect(pack.reads).toBeLessThanOrEqual(8)
    expect(verify(pack.bytes).filter(({ base }) => base !== null).length).toBeGreaterThan(40)
  })

  it('sends objects of several packs as one, deltas across packs by id', async () => {
    using repository = new ScratchRepository()
    const commits = versions(repository, 30, 5000)
    const [old, middle] = [commits[9]!, commits[19]!]
    const packs = await ingestAll([
      packOf(repository, [old]),
      packOf(repository, [middle, `^${old}`], ['--thin']),
      packOf(repository, ['main', `^${middle}`], ['--thin']),
    ])
    expect(packs.map(isThin)).toEqual([false, true, true])
    const pack = await write(packs, selectAll(packs))
    expect(pack).toMatchObject({ objects: 90, verbatim: false, reads: 0 })
    expect(verify(pack.bytes)).toHaveLength(90)
  })

  it('knows no ofs-delta for a client that knows none', async () => {
    using repository = new ScratchRepository()
    versions(repository, 30, 5000)
    const packs = await ingestAll([packOf(repository, ['main'])])
    const pack = await write(packs, selectAll(packs), { ofsDelta: false })
    expect(pack).toMatchObject({ objects: 90, verbatim: false, reads: 0 })
    expect(verify(pack.bytes)).toHaveLength(90)
    // Taken in again, no entry says how far back its base is.
    const again = await ingest(pack.bytes)
    expect(again.index.entries).toBe(90)
    for (let ordinal = 0; ordinal < 90; ordinal++) {
      const type = (pack.bytes[again.index.offset(ordinal)]! >> 4) & 7
      expect(type).toBe(again.index.isDelta(ordinal) ? REF_DELTA : again.index.type(ordinal))
    }
  })

  it('lets a thin pack stand on what the client has, and only then', async () => {
    using repository = new ScratchRepository()
    const commits = versions(repository, 20, 50_000)
    const packs = await ingestAll([
      packOf(repository, [commits[9]!]),
      packOf(repository, ['main', `^${commits[9]}`], ['--thin']),
    ])
    const graph = new RepositoryGraph(packs)
    const wish = { wants: [commits[19]!], haves: [commits[9]!] }
    const plan = await planFetch(graph, wish, new PackedObjects(packs))
    const thin = await write(packs, plan.selection, { client: plan.client })
    const thick = await write(packs, plan.selection)
    expect(thin).toMatchObject({ objects: 30, reads: 0, verbatim: true })
    expect(thick.objects).toBe(30)
    expect(thick.reads).toBeGreaterThan(0)
    expect(thin.bytes.length).toBeLessThan(thick.bytes.length)
    expect(verify(thick.bytes)).toHaveLength(30)
    using client = new ScratchRepository({ bare: true })
    client.git(['index-pack', '--stdin'], packOf(repository, [commits[9]!]))
    client.git(['index-pack', '--stdin', '--fix-thin', '--strict'], thin.bytes)
    client.git(['update-ref', 'refs/heads/main', commits[19]!])
    client.git(['fsck', '--strict'])
  })

  it('sends a delta whole if its base is taken from a newer pack', async () => {
    const [base, other] = ['the base of it all\n', 'something else\n']
    const basePack = await ingest(rawPack([blobEntry(base)]))
    const thin = await ingest(rawPack([refDelta(blobId(base), base.length, other)]), [basePack])
    // The wrong way round: a mirror may take packs in an order in which they were not made.
    const pack = await write([thin, basePack], selectAll([thin, basePack]))
    expect(pack).toMatchObject({ objects: 2, reads: 1 })
    expect(verify(pack.bytes)).toEqual(
      expect.arrayContaining([
        { oid: blobId(base), base: null },
        { oid: blobId(other), base: null },
      ]),
    )
  })

  it('makes no cycle of two packs with each other’s deltas', async () => {
    const [a, b] = ['first text\n', 'second text\n']
    const one = await ingest(rawPack([blobEntry(a), refDelta(blobId(a), a.length, b)]))
    const two = await ingest(rawPack([blobEntry(b), refDelta(blobId(b), b.length, a)]))
    for (const packs of [
      [one, two],
      [two, one],
    ]) {
      expect(verify((await write(packs, selectAll(packs))).bytes)).toHaveLength(2)
    }
  })

  it('sends an object once that a pack has twice', async () => {
    const [a, b] = ['first text\n', 'second text\n']
    const twice = await ingest(rawPack([blobEntry(a), blobEntry(a), refDelta(blobId(a), a.length, b), blobEntry(b)]))
    const pack = await write([twice], selectAll([twice]))
    expect(pack).toMatchObject({ objects: 2, verbatim: false })
    expect(
      verify(pack.bytes)
        .map(({ oid }) => oid)
        .sort(),
    ).toEqual([blobId(a), blobId(b)].sort())
  })

  it('reads a large pack in few large pieces, ahead of the client but not far', async () => {
    const random = seededRandom(5)
    const noise = (length: number) => Array.from({ length }, () => String.fromCharCode(32 + random(95))).join('')
    const texts = Array.from({ length: 400 }, () => noise(1000 + random(30_000)))
    const bytes = rawPack(texts.map(blobEntry))
    const handle = await ingest(bytes)
    const data = new CountedRange(new BufferRange(bytes))
    const packs = [{ ...handle, data }]
    const selection = selectAll(packs, [blobId(texts[7]!), blobId(texts[200]!)])
    const pack = writePack(packs, selection, { ofsDelta: true, client: null, objects: new PackedObjects(packs) })
    const chunks = pack.chunks()
    expect(data.reads).toBe(0)
    const taken = [Uint8Array.from((await chunks.next()).value!)]
    expect(data.reads).toBeLessThanOrEqual(6)
    for await (const chunk of chunks) taken.push(Uint8Array.from(chunk))
    expect(data.reads).toBeLessThanOrEqual(2 + bytes.length / 2 ** 20)
    expect(data.bytes).toBeLessThanOrEqual(bytes.length)
    expect(data.most).toBeLessThanOrEqual(4)
    expect(taken.length).toBeLessThan(4 + (2 * bytes.length) / 2 ** 20)
    expect(verify(concat(taken))).toHaveLength(398)
  })

  it.each([
    ['was written', false, Number.POSITIVE_INFINITY],
    ['is left in the middle', false, 1],
    ['was copied verbatim', true, Number.POSITIVE_INFINITY],
    ['is left in the middle of a copy', true, 1],
  ])('reads on in no pack once it %s', async (_, isVerbatim, chunksTaken) => {
    const random = seededRandom(8)
    const noise = (length: number) => Array.from({ length }, () => String.fromCharCode(32 + random(95))).join('')
    // Of two versions of a text the older one is left out, so that the end of its pack is not read but sent whole.
    const base = 'older'
    const texts = Array.from({ length: 150 }, () => noise(20_000 + random(20_000)))
    const parts = isVerbatim
      ? [texts.map(blobEntry)]
      : [
          [...texts.map(blobEntry), blobEntry(base), refDelta(blobId(base), base.length, 'newer')],
          [blobEntry('second')],
        ]
    const packs = await Promise.all(
      parts.map(async (entries) => {
        const bytes = rawPack(entries)
        return { ...(await ingest(bytes)), data: new CountedRange(new BufferRange(bytes)) }
      }),
    )
    const selection = selectAll(packs, isVerbatim ? [] : [blobId(base)])
    const pack = writePack(packs, selection, { ofsDelta: true, client: null, objects: new PackedObjects(packs) })
    expect(pack.verbatim).toBe(isVerbatim)
    let taken = 0
    for await (const _ of pack.chunks()) if (++taken === chunksTaken) break
    await vi.waitFor(() => expect(packs.map(({ data }) => data.open)).toEqual(packs.map(() => 0)))
  })

  it('leaves out what lies between entries that are far apart', async () => {
    const random = seededRandom(6)
    const texts = Array.from(
      { length: 60 },
      (_, i) => `${i} ${Array.from({ length: 4000 }, () => random(2 ** 31)).join(' ')}`,
    )
    const bytes = rawPack(texts.map(blobEntry))
    const handle = await ingest(bytes)
    const data = new CountedRange(new BufferRange(bytes))
    const packs = [{ ...handle, data }]
    const wanted = [0, 1, 30, 59].map((i) => blobId(texts[i]!))
    const pack = await write(
      packs,
      selectAll(
        packs,
        texts.map(blobId).filter((oid) => !wanted.includes(oid)),
      ),
    )
    expect(
      verify(pack.bytes)
        .map(({ oid }) => oid)
        .sort(),
    ).toEqual(wanted.sort())
    expect(data.reads).toBe(3)
    expect(data.bytes).toBeLessThan(bytes.length / 10)
  })

  it('tells how far it is, chunk by chunk', async () => {
    using repository = new ScratchRepository()
    const commits = versions(repository, 30, 5000)
    const packs = await ingestAll([packOf(repository, ['main'])])
    const seen: [number, number][] = []
    const onProgress = (objects: number, bytes: number) => seen.push([objects, bytes])
    const whole = await write(packs, selectAll(packs), { onProgress })
    expect(seen.at(-1)).toEqual([90, whole.bytes.length])
    const part = await write(packs, selectAll(packs, [commits[0]!]), { onProgress })
    expect(seen.at(-1)).toEqual([89, part.bytes.length])
  })

  it('passes on that a read failed', async () => {
    const handle = await ingest(rawPack([blobEntry('text')]))
    const data: ByteRange = {
      size: handle.data.size,
      read: () => Promise.reject(new Error('the bucket is on fire')),
      stream: (offset, length) => handle.data.stream(offset, length),
      pieces: (offset, length, pieceBytes) => readPieces(data, offset, length, pieceBytes),
    }
    await expect(write([{ ...handle, data }], selectAll([handle]))).rejects.toThrow('the bucket is on fire')
  })
})

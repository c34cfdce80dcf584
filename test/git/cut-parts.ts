import { expect } from 'vitest'
import { MemoryAccount } from '../../git/bytes/memory-account.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import type { KnownObjects } from '../../git/graph/build-graph.ts'
import {
  LINK_LIMITS,
  type LinkFiles,
  type LinkInput,
  type LinkLimits,
  type LinkState,
} from '../../git/graph/link-files.ts'
import { isLinked, linkNext } from '../../git/graph/link-parts.ts'
import { EXTERNAL_REFERENCE, PackGraph } from '../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { cutPack } from '../../git/pack/cut-pack.ts'
import { type CutPart, CutParts } from '../../git/pack/cut-parts.ts'
import { EarlierParts } from '../../git/pack/earlier-parts.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { PackedObjects, type ReadablePack } from '../../git/pack/packed-objects.ts'
import { PACK_HEADER_BYTES } from '../../git/pack/scan-pack.ts'
import { verifyPack } from '../../git/pack/verify-pack.ts'
import { linksOf } from './packs.ts'
import { concat } from './protocol/wire.ts'

export interface SplitOptions {
  /** Entries of the next part at most. */
  readonly entries: () => number
  readonly bytes?: number
  readonly limits?: Partial<LinkLimits>
  /** Peaks of the accounts of all steps are added here. */
  readonly peaks?: number[]
}

/** The files of the steps of linking, in memory. */
export class MemoryLinkFiles implements LinkFiles {
  readonly files = new Map<string, Uint8Array>()
  readonly graphs: Uint8Array[] = []
  /** Called before something is written. */
  beforeWrite: (name: string) => void = () => undefined

  open(name: string, size: number): BufferRange {
    const bytes = this.files.get(name)
    if (bytes?.length !== size) throw new Error(`${name} has ${bytes?.length} bytes, and not ${size}`)
    return new BufferRange(bytes)
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    this.beforeWrite(name)
    this.files.set(name, bytes.slice())
  }

  async writeGraph(part: number, file: Uint8Array): Promise<void> {
    this.beforeWrite(`graph ${part}`)
    this.graphs[part] = file
  }
}

/** A pack cut into several. */
export async function cutAll(
  bytes: Uint8Array,
  older: readonly PackHandle[],
  { entries, bytes: limit = 1e9, peaks }: SplitOptions,
): Promise<{ packs: ReadablePack[]; parts: CutPart[]; known: KnownObjects }> {
  const whole = new BufferRange(bytes)
  const total = await verifyPack(whole)
  const known = { objects: new PackedObjects(older), graph: new RepositoryGraph(older) }
  const packs: ReadablePack[] = []
  const parts: CutPart[] = []
  let start = PACK_HEADER_BYTES
  for (let left = total; left > 0; ) {
    const chunks: Uint8Array[] = []
    const memory = new MemoryAccount()
    const earlier = memory.enter(
      new EarlierParts(memory.enter(new CutParts(parts, known.objects)), known.objects, memory),
    )
    const cut = await cutPack({
      whole,
      part: { start, entries: Math.min(entries(), left), bytes: limit },
      earlier,
      write: async (chunk) => void chunks.push(chunk.slice()),
      memory,
    })
    const data = new BufferRange(concat(chunks))
    const index = new PackIndex(cut.index)
    expect([cut.size, index.packSize, index.entries]).toEqual([data.size, data.size, cut.entries])
    packs.push({ index, data })
    parts.push({
      ...{ entries: cut.entries, data, index: new BufferRange(cut.index) },
      offsets: new BufferRange(new Uint8Array(cut.offsets.buffer, 0, 8 * cut.entries)),
      bases: new BufferRange(new Uint8Array(cut.bases.buffer)),
    })
    start = cut.offsets[cut.entries]!
    left -= cut.entries
    peaks?.push(memory.peak)
  }
  expect(start).toBe(bytes.length - 20)
  return { packs, parts, known }
}

/** A pack cut into several, and those linked, as a mirror does it: what each step needs it has from the files. */
export async function split(bytes: Uint8Array, older: readonly PackHandle[], options: SplitOptions) {
  const { packs, parts, known } = await cutAll(bytes, older, options)
  const files = new MemoryLinkFiles()
  const limits = { ...LINK_LIMITS, ...options.limits }
  let state: LinkState | null = null
  let steps = 0
  const inputOf = (): LinkInput => ({
    ...{ parts: new CutParts(parts, known.objects), known, files, limits, memory: new MemoryAccount() },
  })
  for (let input = inputOf(); !isLinked(input, state); input = inputOf(), steps++) {
    const next: LinkState = await linkNext(input, state)
    // As it is stored.
    state = JSON.parse(JSON.stringify(next)) as LinkState
    options.peaks?.push(input.memory.peak)
  }
  const handles = packs.map((pack, i): PackHandle => ({ ...pack, graph: new PackGraph(files.graphs[i]!) }))
  return { packs: handles, linked: state, steps, files }
}

/** Commits and tags by their ids, wherever they are, and what the lists of commits have in all packs. */
export function linksByOid(packs: readonly PackHandle[]) {
  const links = packs.map(linksOf)
  const byOid = <T extends { oid: string }>(items: readonly T[]) => new Map(items.map((item) => [item.oid, item]))
  const commits = byOid(links.flatMap(({ commits }) => commits))
  for (const { oid, objects } of packs.flatMap(sharesOf)) {
    const commit = commits.get(oid)!
    commits.set(oid, { ...commit, objects: [...commit.objects, ...objects].sort() })
  }
  return { commits, tags: byOid(links.flatMap(({ tags }) => tags)) }
}

function sharesOf({ index, graph }: PackHandle) {
  const oid = (reference: number) => (reference < EXTERNAL_REFERENCE ? index.oid(reference) : graph.external(reference))
  return Array.from(graph.shareCommits, (commit, share) => ({
    oid: oid(commit),
    objects: Array.from(graph.shared(share), oid),
  }))
}

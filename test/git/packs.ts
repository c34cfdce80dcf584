import type { Oid } from '../../git/bytes/oid.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import { ingestPack } from '../../git/graph/ingest-pack.ts'
import { EXTERNAL_REFERENCE, PackGraph } from '../../git/graph/pack-graph.ts'
import type { PackHandle } from '../../git/graph/pack-handle.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { PackedObjects } from '../../git/pack/packed-objects.ts'
import { writePack } from '../../git/pack/write-pack.ts'
import { planFetch } from '../../git/walk/plan-fetch.ts'
import type { ScratchRepository } from './git.ts'
import { concat } from './protocol/wire.ts'

/** A pack taken in as a push would be, beside packs that are there already. */
export async function ingest(bytes: Uint8Array, older: readonly PackHandle[] = []): Promise<PackHandle> {
  const data = new BufferRange(bytes)
  const ingested = await ingestPack({
    chunks: (async function* () {
      yield bytes
    })(),
    reopen: async () => data,
    known: { objects: new PackedObjects(older), graph: new RepositoryGraph(older) },
    strict: false,
  })
  return { index: new PackIndex(ingested.index), graph: new PackGraph(ingested.graph), data }
}

/** Packs taken in one after the other. */
export async function ingestAll(packs: readonly Uint8Array[]): Promise<PackHandle[]> {
  const handles: PackHandle[] = []
  for (const bytes of packs) handles.push(await ingest(bytes, handles))
  return handles
}

/** A pack as git makes it, of what `revisions` (as for rev-list) reach. */
export function packOf(repository: ScratchRepository, revisions: readonly string[], options: readonly string[] = []) {
  const args = ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset', ...options]
  return repository.git(args, `${revisions.join('\n')}\n`)
}

/** A random number generator with a seed (mulberry32): numbers from 0 up to `limit`. */
export function seededRandom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** What a graph says, in ids. */
export function linksOf({ index, graph }: PackHandle) {
  const oid = (reference: number) => (reference < EXTERNAL_REFERENCE ? index.oid(reference) : graph.external(reference))
  const commits = Array.from({ length: graph.commits }, (_, commit) => ({
    oid: index.oid(graph.ordinals[commit]!),
    tree: oid(graph.trees[commit]!),
    time: graph.times[commit]!,
    generation: graph.generations[commit]!,
    parents: Array.from(graph.parents(commit), oid),
    objects: Array.from(graph.objects(commit), oid).sort(),
  }))
  const tags = Array.from({ length: graph.tags }, (_, tag) => ({
    oid: index.oid(graph.tagOrdinals[tag]!),
    target: oid(graph.tagTargets[tag]!),
    type: graph.tagType(tag),
  }))
  return { commits, tags, missing: Array.from(graph.missing, oid).sort() }
}

/** A pack of all that some commits reach, as a client is sent it. */
export async function clone(packs: readonly PackHandle[], wants: readonly Oid[]): Promise<Uint8Array> {
  const graph = new RepositoryGraph(packs)
  const objects = new PackedObjects(packs)
  const plan = await planFetch(graph, { wants, haves: [] }, objects)
  const chunks: Uint8Array[] = []
  for await (const chunk of writePack(packs, plan.selection, { ofsDelta: true, client: null, objects }).chunks()) {
    chunks.push(Uint8Array.from(chunk))
  }
  return concat(chunks)
}

import { env } from 'cloudflare:test'
import { expect, test } from 'vitest'
import type { Landing, LandingResult } from '../../../atproto/account/landing.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import { type LandingDeps, landInAccount } from '../../../durable-objects/landing/land-in-account.ts'
import { newPack, takeBuiltPack } from '../../../durable-objects/landing/new-pack.ts'
import { Mirror } from '../../../durable-objects/repository/mirror.ts'
import type { Oid } from '../../../git/bytes/oid.ts'
import { editTree } from '../../../git/edit/edit-tree.ts'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { serializeCommit } from '../../../git/object/commit.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { COMMIT } from '../../../git/object/object-type.ts'
import { buildPack } from '../../../git/pack/build-pack.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { withGraphs } from '../../../storage/packs/open-packs.ts'
import { DID, PDS, RECORD } from '../../storage/mirror/in-mirror.ts'

/** In workerd: from a mirror to a pack that is made in memory, and back into the mirror, as a queue of commits goes. */
const environment = env as unknown as Environment
const RKEY = '3lzkoq5qq2s2a'
const NAME = 'refs/heads/main'
const AGENT = { name: 'agent', email: '', time: 1_780_000_000, zone: 0 }
const later: Promise<unknown>[] = []
const deps = { environment, waitUntil: (work: Promise<unknown>) => void later.push(work) }
const utf8 = (text: string) => new TextEncoder().encode(text)

/** An account that takes what comes. */
async function take({ moves, create }: Landing): Promise<LandingResult> {
  return {
    moves: moves.map(({ name, from, target, peeled }) => {
      const seq = (from?.seq ?? 0) + 1
      return { name, outcome: 'landed', state: { name, target, peeled, seq, pack: null, at: { kind: 'loose' } } }
    }),
    packLanded: true,
    repository: create === null ? 'unchanged' : 'created',
    failure: null,
    head: 1,
    headNeeds: [],
    isStale: false,
  }
}

const landingDeps = (mirror: Mirror): LandingDeps => ({
  writer: { land: async (landing) => ({ ok: true, result: await take(landing) }) },
  mirror,
  noteRepository: async () => undefined,
  waitUntil: deps.waitUntil,
})

/** Lands one commit that writes a file, on what the mirror has. */
async function commit(path: string, content: string, isNew: boolean): Promise<{ tip: Oid; isThin: boolean }> {
  const mirror = new Mirror(deps, { did: DID, pds: PDS }, RKEY, 'writer')
  const manifest = isNew ? null : await mirror.completeManifest({ names: [NAME], prefixes: [] })
  const packs = manifest === null ? [] : await mirror.packs(manifest)
  const known = await withGraphs(packs)
  const objects = new PackedObjects(packs)
  const graph = RepositoryGraph.of(known)
  const parent = manifest?.refs.find(({ name }) => name === NAME)?.target ?? null
  const base = parent === null ? null : graph.tree(graph.find(parent))
  const edited = await editTree(objects, base, [{ kind: 'write', path: utf8(path), content: utf8(content) }])
  const bytes = serializeCommit({
    tree: edited.tree,
    parents: parent === null ? [] : [parent],
    author: AGENT,
    committer: AGENT,
    message: path,
  })
  const tip = hashObject(COMMIT, bytes)
  const built = await buildPack([...edited.objects, { oid: tip, type: COMMIT, bytes, base: null }], objects)
  const newest = manifest?.packs.at(-1)?.id ?? null
  const taken = await takeBuiltPack(built, newPack(environment, mirror, { room: null, known, newest }))
  expect(taken.ingested).toMatchObject({ missing: [], objects: built.objects })
  const view = await mirror.writerView([NAME])
  const landing: Landing = {
    ...mirror.address,
    repo: RKEY,
    create: isNew ? RECORD : null,
    pack: await taken.toLand(),
    moves: [{ name: NAME, from: view.refs[0]?.state ?? null, target: tip, peeled: null }],
    atomic: true,
    head: view.head,
  }
  expect(landing.pack).toMatchObject({
    rkey: `${RKEY}:${taken.id}`,
    record: { bytes: built.bytes, thin: built.isThin },
  })
  await landInAccount(landingDeps(mirror), landing, taken)
  return { tip, isThin: built.isThin }
}

test('a pack that is made in memory lands, and is what the next one is made on', async () => {
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i * i}\n`)
  const first = await commit('src/a', lines.join(''), true)
  const second = await commit('src/a', lines.with(77, 'changed\n').join(''), false)
  expect([first.isThin, second.isThin]).toEqual([false, true])
  const mirror = new Mirror(deps, { did: DID, pds: PDS }, RKEY, 'writer')
  const manifest = await mirror.completeManifest({ names: [NAME], prefixes: [] })
  expect(manifest.refs).toEqual([{ name: NAME, target: second.tip, peeled: null }])
  const view = await mirror.view(manifest)
  const graph = await view.graph()
  const parents = [...graph.parents(graph.find(second.tip))].map((parent) => graph.oid(parent))
  expect(parents).toEqual([first.tip])
  expect(await view.objects.read(second.tip)).toMatchObject({ type: COMMIT })
  await Promise.all(later)
})

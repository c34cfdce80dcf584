import { describe, expect, it } from 'vitest'
import type { Oid } from '../../../git/bytes/oid.ts'
import type { CommitGraph } from '../../../git/graph/commit-graph.ts'
import { NO_COMMIT, RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { COMMIT, TAG } from '../../../git/object/object-type.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { LogGraph } from '../log-graph.ts'
import { ingest, ingestAll, packOf, seededRandom } from '../packs.ts'
import { randomHistory } from '../random-history.ts'

const ABSENT = 'f'.repeat(40)

/** What a graph says of a commit, in ids. */
function facts(graph: CommitGraph, oid: Oid) {
  const commit = graph.find(oid)
  expect(graph.oid(commit)).toBe(oid)
  return {
    parents: Array.from(graph.parents(commit), (parent) => graph.oid(parent)),
    tree: graph.tree(commit),
    time: graph.time(commit),
    generation: graph.generation(commit),
    isComplete: graph.isComplete(commit),
  }
}

/** A line of commits of the real git, as one pack for each. */
function line(repository: ScratchRepository, length: number): { commits: Oid[]; packs: Uint8Array[] } {
  const commits: Oid[] = []
  const packs: Uint8Array[] = []
  for (let i = 0; i < length; i++) {
    repository.git(['commit', '-q', '--allow-empty', '-m', `commit ${i}`])
    commits.push(repository.text(['rev-parse', 'HEAD']))
    packs.push(packOf(repository, ['HEAD', ...(i === 0 ? [] : [`^${commits[i - 1]}`])]))
  }
  return { commits, packs }
}

describe('RepositoryGraph', GIT_TIME, () => {
  it.each([11, 12, 13])('knows of a random history what git knows (seed %i)', async (seed) => {
    using history = randomHistory(seededRandom(seed), 60)
    const { repository, commits } = history
    const log = new LogGraph(repository)
    const half = commits.slice(0, 30)
    // The second pack repeats some of the first.
    const packs = [packOf(repository, half), packOf(repository, [...commits, `^${half[10]}`])]
    const graph = new RepositoryGraph(await ingestAll(packs))
    expect(graph.size).toBe(log.size)
    for (const commit of commits) expect(facts(graph, commit)).toEqual(facts(log, commit))
    expect(graph.find(ABSENT)).toBe(NO_COMMIT)
    expect(graph.find(graph.tree(0))).toBe(NO_COMMIT)
    expect(graph.hasObject(graph.tree(0))).toBe(true)
    expect(graph.hasObject(ABSENT)).toBe(false)
  })

  it('grows by newer packs, and leaves the older graph as it was', async () => {
    using repository = new ScratchRepository()
    const { commits, packs } = line(repository, 5)
    const handles = await ingestAll(packs)
    const older = new RepositoryGraph(handles.slice(0, 2))
    const newer = older.extend(handles.slice(2, 4)).extend(handles.slice(4))
    const whole = new RepositoryGraph(handles)
    expect([older.size, newer.size]).toEqual([2, 5])
    expect(older.find(commits[4]!)).toBe(NO_COMMIT)
    for (const commit of commits) expect(facts(newer, commit)).toEqual(facts(whole, commit))
    for (const commit of commits.slice(0, 2)) expect(newer.find(commit)).toBe(older.find(commit))
  })

  it('is made once of the same packs, and grown for more', async () => {
    using repository = new ScratchRepository()
    const { commits, packs } = line(repository, 4)
    const handles = await ingestAll(packs)
    const older = RepositoryGraph.of(handles.slice(0, 2))
    expect(RepositoryGraph.of(handles.slice(0, 2).map((pack) => ({ ...pack })))).toBe(older)
    const newer = RepositoryGraph.of(handles)
    expect(RepositoryGraph.of(handles)).toBe(newer)
    for (const commit of commits) expect(facts(newer, commit)).toEqual(facts(new RepositoryGraph(handles), commit))
    // After a compaction the same newest pack may stand on others.
    const other = RepositoryGraph.of([handles[0]!, handles[3]!])
    expect(other.isComplete(other.find(commits[3]!))).toBe(false)
    expect(RepositoryGraph.of([]).size).toBe(0)
  })

  it('uses what it knows of the first packs where the others are merged', async () => {
    using repository = new ScratchRepository()
    const { commits, packs } = line(repository, 5)
    const handles = await ingestAll(packs)
    const before = RepositoryGraph.of(handles)
    const [late] = await ingestAll([packOf(repository, [commits[4]!, `^${commits[1]}`])])
    const merged = [...handles.slice(0, 2), late!]
    const after = RepositoryGraph.of(merged)
    expect(after).not.toBe(before)
    for (const commit of commits) expect(facts(after, commit)).toEqual(facts(new RepositoryGraph(merged), commit))
    for (const commit of commits) expect(facts(before, commit)).toEqual(facts(new RepositoryGraph(handles), commit))
    // A reader who began with the old list still gets that.
    const old = RepositoryGraph.of(handles)
    for (const commit of commits) expect(facts(old, commit)).toEqual(facts(before, commit))
  })

  it('starts over where parents that lay in newer packs go', async () => {
    using repository = new ScratchRepository()
    const { commits, packs } = line(repository, 3)
    const [first, second, third] = await Promise.all(packs.map((pack) => ingest(pack)))
    const mixed = RepositoryGraph.of([third!, second!, first!])
    expect(facts(mixed, commits[2]!)).toMatchObject({ parents: [commits[1]], generation: 3 })
    const cut = RepositoryGraph.of([third!])
    expect(facts(cut, commits[2]!)).toMatchObject({ parents: [], isComplete: false, generation: 1 })
  })

  it('is empty without packs, and can grow from there', async () => {
    using repository = new ScratchRepository()
    const { commits, packs } = line(repository, 1)
    const empty = new RepositoryGraph([])
    expect(empty.size).toBe(0)
    expect(empty.find(commits[0]!)).toBe(NO_COMMIT)
    expect(empty.tagTarget(commits[0]!)).toBeNull()
    expect(empty.extend(await ingestAll(packs)).find(commits[0]!)).toBe(0)
  })

  it('says which parents are missing, and finds them once they come', async () => {
    using repository = new ScratchRepository()
    const { commits, packs } = line(repository, 3)
    const [first, second, third] = await Promise.all(packs.map((pack) => ingest(pack)))
    const cut = new RepositoryGraph([third!])
    expect(facts(cut, commits[2]!)).toMatchObject({ parents: [], isComplete: false, generation: 1 })
    expect(cut.missingParents(0)).toEqual([commits[1]])
    const whole = cut.extend([first!]).extend([second!])
    expect(facts(whole, commits[2]!)).toMatchObject({ parents: [commits[1]], isComplete: true, generation: 3 })
    expect(facts(whole, commits[0]!)).toMatchObject({ parents: [], isComplete: true, generation: 1 })
  })

  it('knows what tags point at', async () => {
    using repository = new ScratchRepository()
    line(repository, 1)
    repository.git(['tag', '-a', '-m', 'inner', 'inner'])
    repository.git(['tag', '-a', '-m', 'outer', 'outer', 'inner'])
    const [outer, inner, commit] = ['outer', 'inner', 'HEAD'].map((name) => repository.text(['rev-parse', name]))
    const graph = new RepositoryGraph(
      await ingestAll([packOf(repository, ['HEAD']), packOf(repository, ['outer', '^HEAD'])]),
    )
    expect(graph.tagTarget(outer!)).toEqual({ oid: inner, type: TAG })
    expect(graph.tagTarget(inner!)).toEqual({ oid: commit, type: COMMIT })
    expect(graph.tagTarget(commit!)).toBeNull()
    expect(graph.tagTarget(ABSENT)).toBeNull()
  })
})

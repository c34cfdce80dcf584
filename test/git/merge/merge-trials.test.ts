import { expect, it } from 'vitest'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { mergeBases } from '../../../git/merge/merge-bases.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB } from '../../../git/object/object-type.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { GIT_TIME } from '../git.ts'
import { ingest, packOf } from '../packs.ts'
import { Random } from '../random.ts'
import { gitMerge } from './git-merge.ts'
import { mergeHistory } from './merge-history.ts'

const SIZE = 40
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

it.each([1, 2, 3, 4])('merges commits of a random history as git does: seed %i', GIT_TIME, async (seed) => {
  const random = new Random(seed)
  using repository = mergeHistory(random, SIZE)
  const tips = repository.text(['rev-parse', ...Array.from({ length: SIZE }, (_, i) => `c${i + 1}`)]).split('\n')
  const pack = await ingest(packOf(repository, tips))
  const graph = new RepositoryGraph([pack])
  const source = new PackedObjects([pack])
  const seen = { clean: 0, conflicted: 0, crossed: 0 }
  for (let trial = 0; trial < 60; trial++) {
    const [ours, theirs] = [1 + random.below(SIZE), 1 + random.below(SIZE)]
    const [a, b] = [graph.find(tips[ours - 1]!), graph.find(tips[theirs - 1]!)]
    const merged = await mergeCommits(graph, source, a, b, { labels: { ours: `c${ours}`, theirs: `c${theirs}` } })
    const git = gitMerge(repository, `c${ours}`, `c${theirs}`)
    const what = `c${ours} c${theirs}`
    expect([what, [...new Set(merged.conflicts.map(({ path }) => text(path)))]]).toEqual([what, git.conflicted])
    if (git.conflicted.length === 0) {
      expect([what, merged.tree]).toEqual([what, git.tree])
      seen.clean++
    } else seen.conflicted++
    for (const { path, kind, merged: shown } of merged.conflicts) {
      if (shown === null || kind === 'mode') continue
      const blob = repository.text(['rev-parse', `${git.tree}:${text(path)}`])
      expect([what, text(path), hashObject(BLOB, shown)]).toEqual([what, text(path), blob])
    }
    if (mergeBases(graph, [a], [b]).length > 1) seen.crossed++
  }
  console.log(seen)
})

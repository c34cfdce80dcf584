import { expect, it } from 'vitest'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import { hashObject } from '../../../git/object/hash-object.ts'
import { BLOB } from '../../../git/object/object-type.ts'
import { PackedObjects } from '../../../git/pack/packed-objects.ts'
import { GIT_TIME } from '../git.ts'
import { ingest, packOf } from '../packs.ts'
import { Random } from '../random.ts'
import { gitMerge, gitMergeBases } from './git-merge.ts'
import { mergeHistory } from './merge-history.ts'

const SIZE = 40
const TRIALS = 24
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

it.each([
  { seed: 1, entangled: true },
  { seed: 2, entangled: false },
  { seed: 3, entangled: true },
  { seed: 4, entangled: false },
])('merges commits of a random history as git does: $seed', GIT_TIME, async ({ seed, entangled }) => {
  const random = new Random(seed)
  using repository = mergeHistory(random, SIZE, entangled)
  const names = Array.from({ length: SIZE }, (_, i) => `c${i + 1}`)
  const tips = repository.text(['rev-parse', ...names]).split('\n')
  const pack = await ingest(packOf(repository, tips))
  const graph = new RepositoryGraph([pack])
  const source = new PackedObjects([pack])
  let crossed = 0
  for (let trial = 0; trial < TRIALS; trial++) {
    const ours = 6 + random.below(SIZE - 6)
    const theirs = entangled ? random.below(SIZE) : ours - random.pick([1, 2, 4, 5])
    const labels = { ours: names[ours]!, theirs: names[theirs]! }
    const [a, b] = [graph.find(tips[ours]!), graph.find(tips[theirs]!)]
    const { bases, tree, conflicts } = await mergeCommits(graph, source, a, b, { labels })
    const what = Object.values(labels)
    expect([what, [...bases].sort()]).toEqual([what, gitMergeBases(repository, labels.ours, labels.theirs)])
    if (bases.length > 1) crossed++
    // A file that is moved out of the way in a base that was merged, git takes for renamed in what is merged then.
    if (entangled && bases.length > 1) continue
    const git = gitMerge(repository, labels.ours, labels.theirs)
    expect([what, [...new Set(conflicts.map(({ path }) => text(path)))]]).toEqual([what, git.conflicted])
    if (conflicts.length === 0) expect([what, tree]).toEqual([what, git.tree])
    for (const { path, kind, merged } of conflicts) {
      if (merged === null || kind === 'mode') continue
      const blob = repository.text(['rev-parse', `${git.tree}:${text(path)}`])
      expect([what, text(path), hashObject(BLOB, merged)]).toEqual([what, text(path), blob])
    }
  }
  if (!entangled) expect(crossed).toBeGreaterThan(0)
})

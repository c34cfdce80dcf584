import { afterAll, describe, expect, it } from 'vitest'
import { findLastCommits, nameKey } from '../../../git/diff/last-commits.ts'
import { GIT_TIME } from '../git.ts'
import { LogGraph } from '../log-graph.ts'
import { GitObjectSource } from '../object-process.ts'
import { Random } from '../random.ts'
import { randomHistory } from '../random-history.ts'

const random = new Random(11)
const history = randomHistory((limit) => random.below(limit), 120, { steadyClock: true })
const { repository, commits } = history
const source = new GitObjectSource(repository.path)
afterAll(async () => {
  await source[Symbol.asyncDispose]()
  history[Symbol.dispose]()
})
const graph = new LogGraph(repository)
const bytes = (text: string) => new TextEncoder().encode(text)

function entriesOf(commit: string, directory: string): string[] {
  const list = repository.text(['ls-tree', '--name-only', `${commit}:${directory}`])
  return list === '' ? [] : list.split('\n')
}

describe('findLastCommits', () => {
  it('gives for each entry what git log -1 gives', GIT_TIME, async () => {
    for (const commit of commits.filter((_, i) => i % 17 === 0)) {
      for (const directory of ['', 'src']) {
        if (directory !== '' && !entriesOf(commit, '').includes(directory)) continue
        const found = await findLastCommits(graph, source, graph.find(commit), bytes(directory))
        expect(found.isComplete).toBe(true)
        const ours = Object.fromEntries([...found.commits].map(([name, number]) => [name, graph.oid(number)]))
        const theirs = entriesOf(commit, directory).map((name) => {
          const path = directory === '' ? name : `${directory}/${name}`
          return [nameKey(bytes(name)), repository.text(['log', '-1', '--format=%H', commit, '--', path])]
        })
        expect([commit, directory, ours]).toEqual([commit, directory, Object.fromEntries(theirs)])
      }
    }
  })

  it('goes no further than to a commit whose answer is known', GIT_TIME, async () => {
    const one = { examine: 1, bytes: 1_000_000 }
    for (const [older, newer] of [
      [40, 60],
      [90, 119],
      [119, 119],
    ] as const) {
      const [at, from] = [graph.find(commits[older]!), graph.find(commits[newer]!)]
      const before = await findLastCommits(graph, source, at, new Uint8Array(0))
      const whole = await findLastCommits(graph, source, from, new Uint8Array(0))
      const known = { at, commits: before.commits }
      const { commits: found, examined } = await findLastCommits(graph, source, from, new Uint8Array(0), { known })
      expect(found).toEqual(whole.commits)
      expect(examined).toBeLessThanOrEqual(whole.examined)
      if (older === newer)
        expect((await findLastCommits(graph, source, from, new Uint8Array(0), { known, limits: one })).isComplete).toBe(
          true,
        )
    }
  })

  it('ends at its limits, and says so', async () => {
    const tip = graph.find(commits.at(-1)!)
    const found = await findLastCommits(graph, source, tip, new Uint8Array(0), {
      limits: { examine: 1, bytes: 1_000_000 },
    })
    expect(found.isComplete).toBe(false)
    expect(found.commits.size).toBeLessThan(entriesOf(commits.at(-1)!, '').length)
  })
})

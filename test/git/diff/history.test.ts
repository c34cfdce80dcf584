import { afterAll, describe, expect, it } from 'vitest'
import { type HistoryPage, listHistory, listPathHistory } from '../../../git/diff/history.ts'
import { ScratchRepository } from '../git.ts'
import { LogGraph } from '../log-graph.ts'
import { GitObjectSource } from '../object-process.ts'

const repository = new ScratchRepository()
afterAll(() => repository[Symbol.dispose]())

/** Writes a history by `git fast-import`: each commit has a mark, a time, parents, and files to set or delete. */
interface Step {
  readonly time: number
  readonly parents?: readonly number[]
  readonly files?: Record<string, string | null>
}

function write(branch: string, steps: readonly Step[]): void {
  const text = steps.map(({ time, parents = [], files = {} }, i) => {
    const [first, ...others] = parents
    const changes = Object.entries(files).map(([path, content]) =>
      content === null ? `D ${path}` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}`,
    )
    const from = first === undefined ? '' : `from :${first}\n`
    const merges = others.map((parent) => `merge :${parent}\n`).join('')
    const reset = first === undefined ? `reset refs/heads/${branch}\n` : ''
    return `${reset}commit refs/heads/${branch}\nmark :${i}\ncommitter C <c@d> ${time} +0000\ndata 1\n${i % 10}\n${from}${merges}${changes.join('\n')}\n`
  })
  repository.git(
    ['fast-import', '--quiet', '--force'],
    text
      .join('\n')
      .replaceAll('mark :0', 'mark :9999')
      .replaceAll('from :0\n', 'from :9999\n')
      .replaceAll('merge :0\n', 'merge :9999\n'),
  )
}

/** A history with merges of all kinds, by a fixed pseudo-random sequence. */
function randomHistory(length: number, seed: number): Step[] {
  let state = seed
  const random = (n: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % n
  }
  return Array.from({ length }, (_, i) => {
    const recent = () => Math.max(0, i - 1 - random(6))
    const parents = i === 0 ? [] : random(4) === 0 ? [...new Set([recent(), recent()])] : [recent()]
    const path = ['a', 'd/b', 'd/e/c', 'f'][random(4)]!
    const content = random(8) === 0 ? null : `${random(5)}\n`
    return { time: 1_600_000_000 + i * 60, parents, files: { [path]: content } }
  })
}

async function pages(next: (from: readonly number[]) => HistoryPage | Promise<HistoryPage>, from: number[]) {
  const commits: number[] = []
  for (let at: readonly number[] = from; at.length > 0; ) {
    const page = await next(at)
    commits.push(...page.commits)
    at = page.next
  }
  return commits
}

describe('histories', () => {
  it.each([1, 2, 3, 4, 5])('are those of git log (%i)', async (seed) => {
    write('main', randomHistory(120, seed))
    const graph = new LogGraph(repository)
    await using source = new GitObjectSource(repository.path)
    const head = [graph.find(repository.text(['rev-parse', 'main']))]
    const oids = (commits: readonly number[]) => commits.map((commit) => graph.oid(commit))
    const log = (...args: string[]) =>
      repository
        .text(['log', '--format=%H', 'main', ...args])
        .split('\n')
        .filter(Boolean)

    expect(oids(listHistory(graph, head, 1000).commits)).toEqual(log())
    expect(oids(await pages((from) => listHistory(graph, from, 7), head))).toEqual(log())
    for (const path of ['a', 'd', 'd/b', 'd/e', 'd/e/c', 'absent', 'a/b', '']) {
      const limits = { limit: 3, examine: 10 }
      const list = (from: readonly number[]) => listPathHistory(graph, source, from, Buffer.from(path), limits)
      expect(oids(await pages(list, head)), path).toEqual(log('--', path === '' ? '.' : path))
    }
  })

  it('gives each commit once, children before parents, where a clock was wrong', async () => {
    const steps = randomHistory(100, 6).map((step, i) => ({ ...step, time: 1_600_000_000 + ((i * 7919) % 100) * 60 }))
    write('main', steps)
    const graph = new LogGraph(repository)
    const head = [graph.find(repository.text(['rev-parse', 'main']))]
    const commits = await pages((from) => listHistory(graph, from, 3), head)
    expect(new Set(commits).size).toBe(commits.length)
    expect(commits).toHaveLength(Number(repository.text(['rev-list', '--count', 'main'])))
    const place = new Map(commits.map((commit, i) => [commit, i]))
    for (const commit of commits) {
      for (const parent of graph.parents(commit)) expect(place.get(parent)).toBeGreaterThan(place.get(commit)!)
    }
  })

  it('looks at no more commits than it may', async () => {
    write(
      'main',
      Array.from({ length: 60 }, (_, i) => ({
        time: 1_600_000_000 + i,
        parents: i === 0 ? [] : [i - 1],
        files: i === 0 ? { rare: '1', other: '0' } : { other: `${i}` },
      })),
    )
    const graph = new LogGraph(repository)
    await using source = new GitObjectSource(repository.path)
    const head = [graph.find(repository.text(['rev-parse', 'main']))]
    const page = await listPathHistory(graph, source, head, Buffer.from('rare'), { limit: 10, examine: 20 })
    expect(page.commits).toEqual([])
    expect(page.next).toHaveLength(1)
    expect(source.reads).toBeLessThan(40)
  })
})

import { afterAll, describe, expect, it } from 'vitest'
import { BLAME_LIMITS, blame } from '../../../git/diff/blame.ts'
import { GIT_TIME, ScratchRepository } from '../git.ts'
import { LogGraph } from '../log-graph.ts'
import { GitObjectSource } from '../object-process.ts'
import { Random } from '../random.ts'

const repository = new ScratchRepository({ bare: true })
const source = new GitObjectSource(repository.path)
afterAll(async () => {
  await source[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
})

/** One file, whose lines are all different, so that there is but one way to compare two versions. */
function writeHistory(random: (limit: number) => number, size: number): void {
  const versions: string[][] = []
  const stream: string[] = []
  let line = 0
  for (let commit = 1; commit <= size; commit++) {
    const parents = commit === 1 ? [] : [commit - 1 - random(Math.min(commit - 1, 3))]
    if (commit > 4 && random(4) === 0 && parents[0] !== commit - 2) parents.push(commit - 2)
    const [first, second] = parents.map((parent) => versions[parent]!)
    // A merge takes lines of both.
    const lines = second === undefined ? [...(first ?? [])] : [...new Set([...first!, ...second])]
    for (let change = 1 + random(3); change > 0; change--) {
      lines.splice(random(lines.length + 1), random(3), ...Array.from({ length: random(3) }, () => `line ${line++}`))
    }
    versions[commit] = lines
    const text = lines.map((one) => `${one}\n`).join('')
    stream.push(`commit refs/heads/main\nmark :${commit}\ncommitter A <a@b> ${1_700_000_000 + commit * 60} +0000`)
    stream.push(`data 1\nx`)
    parents.forEach((parent, i) => {
      stream.push(`${i === 0 ? 'from' : 'merge'} :${parent}`)
    })
    stream.push(`M 100644 inline dir/file\ndata ${text.length}\n${text}`)
  }
  repository.git(['fast-import', '--quiet', '--force'], `${stream.join('\n')}\n`)
}

const random = new Random(5)
writeHistory((limit) => random.below(limit), 80)
const graph = new LogGraph(repository)
const tip = repository.text(['rev-parse', 'main'])
const path = new TextEncoder().encode('dir/file')

describe('blame', () => {
  it('names for each line whom git blame names', GIT_TIME, async () => {
    const ours = (await blame(graph, source, graph.find(tip), path)).flatMap(({ start, end, commit, isKnown }) => {
      expect(isKnown).toBe(true)
      return Array.from({ length: end - start }, () => graph.oid(commit))
    })
    const porcelain = repository.text(['blame', '--line-porcelain', tip, '--', 'dir/file'])
    const theirs = [...porcelain.matchAll(/^([0-9a-f]{40}) \d+ \d+/gm)].map((match) => match[1])
    expect(ours).toEqual(theirs)
    expect(new Set(ours).size).toBeGreaterThan(5)
  })

  it('ends at its limits, and says which lines are older', async () => {
    const lines = await blame(graph, source, graph.find(tip), path, { ...BLAME_LIMITS, examine: 3 })
    expect(lines.some(({ isKnown }) => !isKnown)).toBe(true)
    expect(lines[0]!.start).toBe(0)
    lines.slice(1).forEach((line, i) => {
      expect(line.start).toBe(lines[i]!.end)
    })
  })

  it('has nothing to say of what is no file', async () => {
    expect(await blame(graph, source, graph.find(tip), new TextEncoder().encode('dir'))).toEqual([])
  })
})

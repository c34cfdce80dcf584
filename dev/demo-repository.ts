import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Git } from './git.ts'

/**
 * A small repository that shows what a page or a client may meet: a README, a folder, a merge, an unmerged branch, a
 * lightweight and an annotated tag. The same object ids on every machine.
 */
export async function createDemoRepository(git: Git, directory: string): Promise<void> {
  let step = 0
  const run = (...args: string[]) => {
    // Two hours a step, so that the log has a visible order.
    const date = new Date(Date.UTC(2026, 2, 1, 9 + 2 * step++)).toISOString()
    return git.run(args, { cwd: directory, env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } })
  }
  const commit = async (message: string, files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      const file = join(directory, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
    }
    await run('add', '--all')
    await run('commit', '--quiet', '--message', message)
  }

  await mkdir(directory, { recursive: true })
  await run('init', '--quiet')
  await commit('Begin with a README', { 'README.md': README })
  await commit('Count threads', { 'src/threads.js': THREADS })
  await commit('Show how it is used', { 'examples/count.js': EXAMPLE })
  await run('tag', 'v0.1.0')

  await run('switch', '--quiet', '--create', 'knots')
  await commit('Tie a knot', { 'src/knots.js': KNOTS })
  await run('switch', '--quiet', 'main')
  await commit('Say what a skein is', { 'README.md': `${README}\n${SKEIN}` })
  await run('merge', '--quiet', '--no-ff', '--message', 'Merge branch knots', 'knots')
  await run('branch', '--quiet', '--delete', 'knots')
  await run('tag', '--annotate', '--message', 'The first one that ties knots', 'v1.0.0')

  await run('switch', '--quiet', '--create', 'feature/colours')
  await commit('Give threads a colour', { 'src/threads.js': COLOURED })
  await run('switch', '--quiet', 'main')
}

const README = `# Demo

A repository to look at: it lives in the account of alice.test, and the edge serves it.
`

const SKEIN = `## A skein

A length of yarn, wound so that it can be drawn out again without a tangle.
`

const THREADS = `export function countThreads(skein) {
  return skein.threads.length
}
`

const COLOURED = `export function countThreads(skein, colour) {
  const threads = colour ? skein.threads.filter((thread) => thread.colour === colour) : skein.threads
  return threads.length
}
`

const KNOTS = `export function tie(left, right) {
  return [...left, ...right]
}
`

const EXAMPLE = `import { countThreads } from '../src/threads.js'

console.log(countThreads({ threads: ['warp', 'weft'] }))
`

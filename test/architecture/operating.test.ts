import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8')

/** What the first column of the page's tables names. */
function firstCells(): Set<string> {
  const cells = page.split('\n').flatMap((line) => /^\| ([^|]*) \|/.exec(line)?.[1] ?? [])
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)))
}

test('the page for operators lists every event that is logged', () => {
  const files = globSync('{workers,durable-objects}/**/*.ts', { cwd: ROOT })
  const events = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\blog(?:Routine)?\(\s*'([a-z-]+)'/g)].map(
      ([, event]) => event!,
    ),
  )
  expect(events.length).toBeGreaterThan(20)
  const listed = firstCells()
  expect([...new Set(events)].filter((event) => !listed.has(event))).toEqual([])
})

test('the page for operators names every setting and binding', () => {
  const source = readFileSync(join(ROOT, 'durable-objects/environment.ts'), 'utf8')
  const names = [...source.matchAll(/^ {2}readonly ([A-Z][A-Z_]+)\??:/gm)].map(([, name]) => name!)
  expect(names).toContain('SESSION_KEY')
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

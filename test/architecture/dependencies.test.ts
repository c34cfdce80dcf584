import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

test('docs/dependencies.md gives a reason for every dependency, and for no other', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const page = readFileSync(join(ROOT, 'docs', 'dependencies.md'), 'utf8')
  const explained = [...page.matchAll(/^\| `([^`]+)` +\| \S/gm)].map((match) => match[1])
  expect(explained.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).sort())
})

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

/** What each top folder may import besides itself. Folders that are not named here (lexicons) hold data for anyone. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  git: [],
  atproto: ['git'],
  storage: ['git', 'atproto'],
  'durable-objects': ['git', 'atproto', 'storage'],
  workers: ['git', 'atproto', 'storage', 'durable-objects'],
  cli: ['git', 'atproto'],
  dev: ['git', 'atproto', 'storage', 'durable-objects'],
  // The Worker as a whole, with a meter around it.
  bench: ['git', 'atproto', 'storage', 'durable-objects', 'workers', 'dev'],
}

/** Inside git/, a folder imports what stands on its own line or above it. */
const GIT_ORDER = [
  ['bytes'],
  ['object', 'refs', 'delta'],
  ['pack'],
  ['graph', 'walk', 'diff', 'edit', 'merge'],
  ['protocol'],
]
const GIT_STRANGERS = [['protocol', 'pack']]

/** git/ knows no platform: these parts of Node are in workerd and in browsers' bundles too. */
const GIT_PACKAGES = ['node:crypto', 'node:zlib', 'pako']

test.each(Object.entries(MAY_IMPORT))('%s/ imports only itself and: %s', (folder, others) => {
  const wrong = imports(folder).filter(({ to }) => to in MAY_IMPORT && to !== folder && !others.includes(to))
  expect(wrong).toEqual([])
})

test('nothing but test/ imports test/', () => {
  const wrong = Object.keys(MAY_IMPORT)
    .flatMap(imports)
    .filter(({ to }) => to === 'test')
  expect(wrong).toEqual([])
})

test('git/ is layered, and needs no platform and no network', () => {
  const rank = (folder: string) => GIT_ORDER.findIndex((line) => line.includes(folder))
  const inside = imports('git').filter(({ to }) => to === 'git')
  const upward = inside.filter(({ from, path }) => rank(part(from)) < rank(part(path)))
  const strangers = inside.filter(({ from, path }) =>
    GIT_STRANGERS.some((pair) => part(from) !== part(path) && pair.includes(part(from)) && pair.includes(part(path))),
  )
  const unknown = inside.filter(({ from, path }) => rank(part(from)) < 0 || rank(part(path)) < 0)
  const packages = imports('git').filter(({ to, path }) => to === 'package' && !GIT_PACKAGES.includes(path))
  expect({ upward, strangers, unknown, packages }).toEqual({ upward: [], strangers: [], unknown: [], packages: [] })
})

const IMPORT = /^(?:import|export|\}).* from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

interface Import {
  readonly from: string
  /** Top folder, or 'package'. */
  readonly to: string
  /** Path from the root, or the package's name. */
  readonly path: string
}

function imports(folder: string): Import[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT }).flatMap((from) => {
    const source = readFileSync(join(ROOT, from), 'utf8')
    return [...source.matchAll(IMPORT)].map((match) => {
      const named = match[1] ?? match[2] ?? match[3] ?? ''
      if (!named.startsWith('.')) return { from, to: 'package', path: named }
      const path = relative(ROOT, join(ROOT, dirname(from), named))
      return { from, to: path.split('/')[0] ?? '', path }
    })
  })
}

/** The folder inside git/. */
function part(path: string): string {
  return path.split('/')[1] ?? ''
}

import { describe, expect, it } from 'vitest'
import { robotsText } from '../../../workers/web/feeds/crawlers.ts'

/** As RFC 9309 matches: `*` is any text, `$` the end; a rule is a beginning. */
const rules = Array.from(robotsText('https://edge.test').matchAll(/^Disallow: (.*)$/gm), ([, rule]) => {
  const pattern = rule!.split('*').map((part) => part.replace(/[.?+()[\]{}\\^|]/g, '\\$&'))
  return new RegExp(`^${pattern.join('.*')}`)
})
const isKept = (path: string) => rules.some((rule) => rule.test(path))

describe('crawlers', () => {
  it.each([
    '/alice.test/app/blame/main/a.c',
    '/alice.test/app/compare',
    '/alice.test/app/compare?base=a&head=b',
    '/alice.test/app/compare/a...b',
    '/alice.test/app/archive/main.zip',
    '/alice.test/app/raw/main/a.c',
    '/alice.test/app/commit/00?view=split',
    '/alice.test?after=x',
    '/alice.test/app/tree/main/src',
    '/search',
    '/search?q=a',
    '/xrpc/dev.skein.repo.list',
    '/mcp',
  ])('are kept from %s', (path) => expect(isKept(path)).toBe(true))

  it.each([
    '/',
    '/search.example',
    '/mcp.example/app',
    '/alice.test',
    '/alice.test/compare',
    '/alice.test/compare-tool',
    '/alice.test/blame/tags',
    '/alice.test/raw/branches',
    '/alice.test/app',
    '/alice.test/app/tree/main',
    '/alice.test/app/blob/main/compare.ts',
  ])('may go to %s', (path) => expect(isKept(path)).toBe(false))
})

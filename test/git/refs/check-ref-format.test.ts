import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isPushableRef, isRefName } from '../../../git/refs/check-ref-format.ts'
import { GIT_TIME } from '../git.ts'

const PARTS = [
  ...[
    'a',
    '@',
    '.',
    '..',
    '.a',
    'a.',
    'a.b',
    'a..b',
    'a.lock',
    '.lock',
    'lock',
    'a.lock.b',
    '-dash',
    'a@{b',
    '{',
    '@{',
  ],
  ...[
    'a b',
    'a~',
    '^',
    'a:b',
    '?',
    '*',
    '[',
    ']',
    '\\',
    '\x01',
    '\x7f',
    '\t',
    'ünïcode',
    '日本語',
    'a#b',
    'a%b',
    'a+b',
  ],
  ...['a&b', "quo'te", 'a"b', 'x@y', 'a=b', '20240101', 'deadbeef', 'HEAD', ''],
]

describe('isRefName', GIT_TIME, () => {
  it('agrees with git', () => {
    const names = PARTS.flatMap((part) => [part, `refs/heads/${part}`, `${part}/x`, `refs/${part}/x`, `a/${part}.`])
    for (const name of new Set(names)) {
      // The command line would take it for an option.
      if (name.startsWith('-')) continue
      const oneLevel = spawnSync('git', ['check-ref-format', '--allow-onelevel', name]).status === 0
      const full = oneLevel && name.includes('/')
      expect([name, isRefName(name, { allowOneLevel: true }), isRefName(name)]).toEqual([name, oneLevel, full])
    }
  })

  it('asks for two components unless told otherwise', () => {
    expect(spawnSync('git', ['check-ref-format', 'main']).status).toBe(1)
    expect(isRefName('main')).toBe(false)
    expect(isRefName('heads/main')).toBe(true)
  })
})

it('lets a push write below refs/ only, and delete one level there', () => {
  expect(isPushableRef('refs/heads/main', { forDeletion: false })).toBe(true)
  expect(isPushableRef('refs/main', { forDeletion: false })).toBe(false)
  expect(isPushableRef('refs/main', { forDeletion: true })).toBe(true)
  expect(isPushableRef('heads/main', { forDeletion: true })).toBe(false)
})

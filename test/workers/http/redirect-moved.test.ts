import { expect, it } from 'vitest'
import { ActorMovedError, redirectMoved } from '../../../workers/http/redirect-moved.ts'

it.each([
  ['/old.test', '/new.test'],
  ['/old.test/app/tags.atom?page=2', '/new.test/app/tags.atom?page=2'],
  ['/old%2Etest/app', '/new.test/app'],
  ['/-/feed/old.test', '/-/feed/new.test'],
  ['/-/find/old.test/app?q=a', '/-/find/new.test/app?q=a'],
  ['/-/card/older/old.test/app/card.png', '/-/card/older/new.test/app/card.png'],
  ['/-/card/%E0%A4/old.test/card.png', '/-/card/%E0%A4/new.test/card.png'],
  ['/-/card/%zz/old.test/card.png', '/-/card/%zz/new.test/card.png'],
  // It was asked for beside the account of the URL, which has not moved.
  ['/alice.test/app/compare/main...old.test:main', null],
  ['/alice.test/app/compare/x/old.test/y...old.test:main', null],
])('%s leads to %s once old.test is new.test', (path, location) => {
  const answer = redirectMoved(new ActorMovedError('old.test', 'new.test'), new Request(`https://edge.test${path}`))
  expect(answer?.headers.get('location') ?? null).toBe(location)
})

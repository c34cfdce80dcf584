import { expect, it } from 'vitest'
import { sayMismatch } from '../../../workers/mcp/argument-schema.ts'

it.each([
  [
    '#: Property "query" does not match additional properties schema.; #/query: False boolean schema.',
    '#: there is no "query".',
  ],
  [
    '#: Property "changes" does not match schema.; #/changes: Items did not match schema.; #/changes/0: Property "contents" does not match additional properties schema.; #/changes/0/contents: False boolean schema.',
    '#/changes/0: there is no "contents".',
  ],
  [
    '#: Property "strategy" does not match schema.; #/strategy: Instance does not match any of ["merge"].',
    '#/strategy: Instance does not match any of ["merge"].',
  ],
  ['#: Instance does not have required property "message".', '#: Instance does not have required property "message".'],
  ['#: Items did not match schema.', '#: Items did not match schema.'],
  ['', ''],
])('what a validator says, %j, is told without its echoes', (said, told) => {
  expect(sayMismatch(said)).toBe(told)
})

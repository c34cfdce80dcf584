import { expect, test } from 'vitest'
import { counter } from '../../../durable-objects/landing/tell.ts'

test('a counter tells every tenth percent once, and the end as git does', () => {
  const lines: string[] = []
  const count = counter('Resolving deltas', (line) => lines.push(line))
  for (let done = 0; done <= 1000; done++) count(done, 1000)
  expect(lines).toHaveLength(11)
  expect(lines[0]).toBe('Resolving deltas:   0% (0/1000)\r')
  expect(lines[1]).toBe('Resolving deltas:  10% (100/1000)\r')
  expect(lines.at(-1)).toBe('Resolving deltas: 100% (1000/1000), done.\n')
})

import { expect, test } from 'vitest'
import { counter, withProgress } from '../../../workers/git/progress.ts'

async function linesOf(work: AsyncGenerator<string, unknown>): Promise<{ lines: string[]; value: unknown }> {
  const lines: string[] = []
  for (;;) {
    const step = await work.next()
    if (step.done) return { lines, value: step.value }
    lines.push(step.value)
  }
}

test('lines come while the work goes on, and the last ones before its result', async () => {
  const released = Promise.withResolvers<void>()
  const work = withProgress(async (tell) => {
    tell('one')
    await released.promise
    tell('two')
    tell('three')
    return 42
  })
  expect(await work.next()).toEqual({ done: false, value: 'one' })
  const next = work.next()
  released.resolve()
  expect(await next).toEqual({ done: false, value: 'two' })
  expect(await linesOf(work)).toEqual({ lines: ['three'], value: 42 })
})

test('what the work throws comes after its lines', async () => {
  const work = withProgress(async (tell) => {
    tell('one')
    throw new Error('broken')
  })
  expect(await work.next()).toEqual({ done: false, value: 'one' })
  await expect(work.next()).rejects.toThrow('broken')
})

test('a failure is not unhandled where nobody asks for the result', async () => {
  const failed = Promise.reject(new Error('nobody hears of it'))
  const work = withProgress(() => failed)
  await work.return(undefined as never)
  await expect(failed).rejects.toThrow()
})

test('a counter tells every tenth percent once, and the end as git does', () => {
  const lines: string[] = []
  const count = counter('Resolving deltas', (line) => lines.push(line))
  for (let done = 0; done <= 1000; done++) count(done, 1000)
  expect(lines).toHaveLength(11)
  expect(lines[0]).toBe('Resolving deltas:   0% (0/1000)\r')
  expect(lines[1]).toBe('Resolving deltas:  10% (100/1000)\r')
  expect(lines.at(-1)).toBe('Resolving deltas: 100% (1000/1000), done.\n')
})

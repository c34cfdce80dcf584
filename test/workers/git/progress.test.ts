import { expect, test } from 'vitest'
import { withProgress } from '../../../workers/git/progress.ts'

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

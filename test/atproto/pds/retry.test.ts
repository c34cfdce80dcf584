import { describe, expect, test } from 'vitest'
import { PdsError, PdsUnreachableError } from '../../../atproto/pds/pds-error.ts'
import { retryRead } from '../../../atproto/pds/retry.ts'

function answer(status: number, retryAfter: number | null = null): PdsError {
  return new PdsError('pds.test', status, '', '', retryAfter)
}

/** Runs reads that fail in turn; tells the pauses made, and how it ended. */
async function run(...faults: Error[]) {
  const pauses: number[] = []
  const options = { random: () => 0.5, sleep: async (milliseconds: number) => void pauses.push(milliseconds) }
  const read = async () => {
    const fault = faults.shift()
    if (fault) throw fault
    return 'read'
  }
  const end = await retryRead(read, options).catch((fault: Error) => fault.message)
  return { pauses, end }
}

describe('retryRead', () => {
  test('tries three times, with growing pauses', async () => {
    const gone = new PdsUnreachableError('pds.test', 'cannot be reached')
    expect(await run(gone, answer(503))).toEqual({ pauses: [100, 200], end: 'read' })
    expect(await run(gone, gone, gone)).toEqual({ pauses: [100, 200], end: 'pds.test cannot be reached' })
  })

  test('waits as long as the host asks, but not for minutes', async () => {
    expect(await run(answer(429, 2))).toEqual({ pauses: [2100], end: 'read' })
    expect(await run(answer(429, 60))).toEqual({ pauses: [], end: 'pds.test answered 429' })
  })

  test.each([400, 401, 404, 413])('does not repeat what was answered %i', async (status) => {
    expect((await run(answer(status))).pauses).toEqual([])
  })

  test('passes other faults on', async () => {
    expect(await run(new TypeError('a bug'))).toEqual({ pauses: [], end: 'a bug' })
  })
})

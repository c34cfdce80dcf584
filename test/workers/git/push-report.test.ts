import { expect, test } from 'vitest'
import type { LandingResult } from '../../../atproto/account/landing.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import type { CheckedCommand } from '../../../git/protocol/check-commands.ts'
import { refuseAll, reportLanding } from '../../../workers/git/push-report.ts'
import { oid } from '../../git/protocol/wire.ts'

const ok = (name: string): CheckedCommand => ({ ok: true, name, old: oid(0), new: oid(1) })
const bad: CheckedCommand = { ok: false, name: 'bad', reason: 'funny refname' }
const state = {} as RefState

test('where nothing was written, each command says why: its own fault, or the common one', () => {
  expect(refuseAll([ok('a'), bad], 'unpacker error', 'the pack is cut off')).toEqual({
    unpackError: 'the pack is cut off',
    commands: [{ ok: false, name: 'a', reason: 'unpacker error' }, bad],
  })
})

test('what became of each ref is said in the order of the push', () => {
  const failure = {
    message: 'pds.test answered 429',
    retryAfterSeconds: 30,
    isUncertain: false,
    isForOwner: false,
    isRefused: false,
  }
  const result: LandingResult = {
    moves: [
      { name: 'failed', outcome: 'failed', ...failure },
      { name: 'lost', outcome: 'lost', state },
      { name: 'landed', outcome: 'landed', state },
    ],
    packLanded: true,
    repository: 'unchanged',
    failure,
    head: null,
    headNeeds: [],
    isStale: true,
  }
  expect(reportLanding([ok('landed'), bad, ok('lost'), ok('failed'), ok('nothing to do')], result)).toEqual({
    unpackError: null,
    commands: [
      { ok: true, name: 'landed' },
      bad,
      { ok: false, name: 'lost', reason: 'fetch first' },
      { ok: false, name: 'failed', reason: 'pds.test answered 429 (try again in 30 s)' },
      { ok: true, name: 'nothing to do' },
    ],
  })
})

import { describe, expect, it } from 'vitest'
import { ATOMIC_FAILURE, checkCommands, STALE_REF } from '../../../git/protocol/check-commands.ts'
import { oid } from './wire.ts'

const ZERO = oid(0)
const refs = new Map([
  ['refs/heads/main', oid(1)],
  ['refs/heads/a', oid(2)],
  ['refs/heads/dir/x', oid(3)],
])

function check(commands: [old: string, next: string, name: string | Uint8Array][], atomic = false): string[] {
  const encoder = new TextEncoder()
  return checkCommands(
    commands.map(([old, next, name]) => ({
      old,
      new: next,
      name: typeof name === 'string' ? encoder.encode(name) : name,
    })),
    refs,
    { atomic },
  ).map((command) => (command.ok ? 'ok' : command.reason))
}

describe('checkCommands', () => {
  it('lets good commands pass', () => {
    expect(
      check([
        [oid(1), oid(9), 'refs/heads/main'],
        [ZERO, oid(9), 'refs/heads/new'],
        [oid(2), ZERO, 'refs/heads/a'],
        [ZERO, oid(9), 'refs/notes/commits'],
        [ZERO, oid(9), 'refs/heads/-dash'],
        [ZERO, oid(9), 'refs/heads/日本語'],
      ]),
    ).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok'])
  })

  it.each([
    'bad..name',
    'heads/x',
    'HEAD',
    'refs/',
    'refs/x',
    'refs/heads/x.lock',
    'refs/heads/x^',
    'refs/heads/',
    'refs/heads//x',
  ])('refuses the name %j', (name) => expect(check([[ZERO, oid(9), name]])).toEqual(['funny refname']))

  it('refuses a name that is not UTF-8', () => {
    expect(check([[ZERO, oid(9), Uint8Array.of(0x72, 0xff)]])).toEqual(['ref name is not UTF-8'])
  })

  it('refuses a name that a record cannot hold', () => {
    expect(check([[ZERO, oid(9), `refs/heads/${'ä'.repeat(506)}`]])).toEqual(['ok'])
    expect(check([[ZERO, oid(9), `refs/heads/${'ä'.repeat(507)}`]])).toEqual(['ref name is longer than 1024 bytes'])
  })

  it('carries out the first of two commands for a ref', () => {
    expect(
      check([
        [ZERO, oid(8), 'refs/heads/new'],
        [ZERO, oid(9), 'refs/heads/new'],
      ]),
    ).toEqual(['ok', 'multiple updates for one ref'])
  })

  it('compares the old ids', () => {
    expect(check([[oid(7), oid(9), 'refs/heads/main']])).toEqual([STALE_REF])
    expect(check([[oid(7), ZERO, 'refs/heads/main']])).toEqual([STALE_REF])
    expect(check([[oid(7), oid(9), 'refs/heads/gone']])).toEqual([STALE_REF])
    expect(check([[ZERO, oid(9), 'refs/heads/main']])).toEqual(['reference already exists'])
  })

  it('takes the deletion of a ref that is not there', () => {
    expect(check([[oid(7), ZERO, 'refs/heads/gone']])).toEqual(['ok'])
    expect(check([[ZERO, ZERO, 'refs/heads/gone']])).toEqual(['ok'])
  })

  it('refuses a ref inside of another, and one around others', () => {
    expect(check([[ZERO, oid(9), 'refs/heads/a/b']])).toEqual(["'refs/heads/a' exists; cannot create 'refs/heads/a/b'"])
    expect(check([[ZERO, oid(9), 'refs/heads/dir']])).toEqual([
      "'refs/heads/dir/x' exists; cannot create 'refs/heads/dir'",
    ])
  })

  it('takes it when the other is deleted in the same push, before or after', () => {
    expect(
      check([
        [oid(2), ZERO, 'refs/heads/a'],
        [ZERO, oid(9), 'refs/heads/a/b'],
        [ZERO, oid(9), 'refs/heads/dir'],
        [oid(3), ZERO, 'refs/heads/dir/x'],
      ]),
    ).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  it('does not count on a deletion that is refused', () => {
    expect(
      check([
        [oid(7), ZERO, 'refs/heads/a'],
        [ZERO, oid(9), 'refs/heads/a/b'],
      ]),
    ).toEqual([STALE_REF, "'refs/heads/a' exists; cannot create 'refs/heads/a/b'"])
  })

  it('refuses the second of two new refs that exclude each other', () => {
    expect(
      check([
        [ZERO, oid(9), 'refs/heads/n/m'],
        [ZERO, oid(9), 'refs/heads/n'],
        [ZERO, oid(9), 'refs/heads/n/o'],
      ]),
    ).toEqual(['ok', "'refs/heads/n/m' exists; cannot create 'refs/heads/n'", 'ok'])
  })

  it('refuses all of an atomic push for one', () => {
    expect(
      check(
        [
          [oid(1), oid(9), 'refs/heads/main'],
          [ZERO, oid(9), 'bad..name'],
        ],
        true,
      ),
    ).toEqual([ATOMIC_FAILURE, 'funny refname'])
  })

  it('refuses what the pusher may not do, after its name and before its old id', () => {
    const encode = (text: string) => new TextEncoder().encode(text)
    const asked: unknown[] = []
    const commands = [
      { old: oid(7), new: oid(9), name: encode('refs/heads/main') },
      { old: ZERO, new: oid(9), name: encode('bad..name') },
      { old: ZERO, new: oid(9), name: encode('refs/heads/new') },
    ]
    const refuse = (move: { name: string }) => {
      asked.push(move)
      return move.name === 'refs/heads/main' ? 'not you' : null
    }
    const reasons = (atomic: boolean) =>
      checkCommands(commands, refs, { atomic, refuse }).map((command) => (command.ok ? 'ok' : command.reason))
    expect(reasons(false)).toEqual(['not you', 'funny refname', 'ok'])
    expect(asked).toEqual([
      { old: oid(7), new: oid(9), name: 'refs/heads/main' },
      { old: ZERO, new: oid(9), name: 'refs/heads/new' },
    ])
    expect(reasons(true)).toEqual(['not you', 'funny refname', ATOMIC_FAILURE])
  })
})

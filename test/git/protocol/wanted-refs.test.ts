import { expect, it } from 'vitest'
import { resolveHead } from '../../../git/protocol/advertised-refs.ts'
import { ProtocolError } from '../../../git/protocol/protocol-error.ts'
import { resolveWantedRefs } from '../../../git/protocol/wanted-refs.ts'
import { oid } from './wire.ts'

const refs = [
  { name: 'refs/heads/main', target: oid(1), peeled: null },
  { name: 'refs/tags/v1', target: oid(2), peeled: oid(1) },
]

it('finds refs by their full names, and HEAD', () => {
  const names = ['refs/tags/v1', 'HEAD']
  expect(resolveWantedRefs(names, { head: resolveHead(refs, 'main'), refs })).toEqual([
    { name: 'refs/tags/v1', target: oid(2) },
    { name: 'HEAD', target: oid(1) },
  ])
})

it.each(['main', 'refs/heads/gone', 'HEAD', ''])('does not know %j', (name) => {
  const unborn = { head: resolveHead(refs, 'trunk'), refs }
  expect(() => resolveWantedRefs([name], unborn)).toThrow(new ProtocolError(`unknown ref ${name}`))
})

import { expect, test } from 'vitest'
import { type Oid, ZERO_OID } from '../../../git/bytes/oid.ts'
import { checkCommands } from '../../../git/protocol/check-commands.ts'
import { withConflicts } from '../../../git/refs/ref-conflicts.ts'
import { nameRanges, selectRefs } from '../../../git/refs/ref-selection.ts'
import { seededRandom } from '../packs.ts'
import { oid } from '../protocol/wire.ts'

test('commands are judged by a few refs as they are by all', () => {
  const random = seededRandom(8)
  const name = () => `refs/heads/${Array.from({ length: 1 + random(4) }, () => 'ab-'[random(3)]).join('/')}`
  const encoder = new TextEncoder()
  let conflicts = 0
  for (let trial = 0; trial < 300; trial++) {
    const names = [...new Set(Array.from({ length: random(30) }, name))].sort()
    const refs = names.map((name) => ({ name, target: oid(1 + random(3)) }))
    const all = new Map<string, Oid>(refs.map(({ name, target }) => [name, target]))
    const commands = Array.from({ length: 1 + random(5) }, () => {
      const moved = name()
      const old = random(4) === 0 ? oid(1 + random(3)) : (all.get(moved) ?? ZERO_OID)
      return { name: encoder.encode(moved), old, new: random(3) === 0 ? ZERO_OID : oid(1 + random(3)) }
    })
    const asked = withConflicts(commands.map((command) => new TextDecoder().decode(command.name)))
    const few = new Map(selectRefs(refs, nameRanges(asked)).map(({ name, target }) => [name, target]))
    const judged = checkCommands(commands, few, { atomic: false })
    expect(judged).toEqual(checkCommands(commands, all, { atomic: false }))
    conflicts += judged.filter((command) => !command.ok && command.reason.includes('cannot create')).length
  }
  expect(conflicts).toBeGreaterThan(20)
})

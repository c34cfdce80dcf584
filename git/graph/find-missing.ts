import type { Oid } from '../bytes/oid.ts'
import type { PackIndex } from '../pack/pack-index.ts'
import type { LinkInput, LinkState } from './link-files.ts'
import { TOLD_FAULTS } from './object-links.ts'
import { describeMistyped, OtherObjects } from './other-objects.ts'
import { firstOf } from './read-links.ts'

/** Presence look-ups under way at once. */
const LOOK_UPS_AT_ONCE = 64

/** Finds out which of the objects that are in no part are nowhere, and whether the others are what they have to be. */
export async function findMissing(input: LinkInput, state: LinkState): Promise<LinkState> {
  const { memory, known } = input
  const others = memory.enter(await OtherObjects.read(input, state))
  const mistyped = [...state.mistyped]
  const absent: number[] = []
  const needed = [...others].filter((number) => others.expected(number) !== 0)
  for (let at = 0; at < needed.length; at += LOOK_UPS_AT_ONCE) {
    memory.check()
    const some = needed.slice(at, at + LOOK_UPS_AT_ONCE)
    const found = await Promise.all(some.map((number) => known?.objects.stat(others.oid(number))))
    for (const [i, number] of some.entries()) {
      const type = found[i]?.type
      const fault = type && describeMistyped(others.oid(number), type, others.expected(number))
      if (fault) mistyped.push(fault)
      if (type === undefined) absent.push(number)
    }
  }
  // It may have been missing before.
  for (const number of others) others.setMissing(number, false)
  const missing: Oid[] = []
  for (const number of await notInParts(input, others, absent)) {
    others.setMissing(number, true)
    if (missing.length < TOLD_FAULTS) missing.push(others.oid(number))
  }
  return { ...state, missing, mistyped: firstOf(mistyped), ...(await others.write(input, state)) }
}

/** Those that no part has either: what a tree of the repository names may be in one. */
async function notInParts(
  { parts, memory }: LinkInput,
  others: OtherObjects,
  numbers: readonly number[],
): Promise<readonly number[]> {
  let absent = numbers
  const isHere = (index: PackIndex, number: number) => index.find(others.bytes(number)) >= 0
  for (const part of absent.length === 0 ? [] : parts.parts.keys()) {
    await parts.withIndex(part, memory, (index) => {
      absent = absent.filter((number) => !isHere(index, number))
    })
  }
  return absent
}

import type { Oid } from '../../git/bytes/oid.ts'
import { packOf } from './packs.ts'
import type { RandomHistory } from './random-history.ts'

/** The history as a series of pushes: packs of what is new at each step, thin now and then. */
export function pushes(history: RandomHistory, random: (limit: number) => number, count: number): Uint8Array[] {
  const { repository, commits, tags } = history
  const packs: Uint8Array[] = []
  let pushed: Oid[] = []
  for (let push = 1; push <= count; push++) {
    const upTo = push === count ? commits.length : Math.floor((commits.length * push) / count)
    const tips = commits.slice(0, upTo)
    if (push === count) tips.push(...tags.map((tag) => repository.text(['rev-parse', tag])))
    const options = random(2) === 0 ? ['--thin'] : []
    packs.push(
      packOf(repository, [...tips, ...pushed.map((oid) => `^${oid}`)], [...options, `--window=${2 + random(20)}`]),
    )
    // A pusher does not know all that the server has: some objects are sent twice.
    pushed = tips.filter(() => random(3) > 0)
  }
  return packs
}

import { createHash } from 'node:crypto'
import { ScratchRepository } from '../git.ts'
import type { Random } from '../random.ts'

/** Paths that cannot stand in each other's way, and such that can. */
const APART = ['a', 'b/c', 'b/d', 'b/e/f', 'g', 'h.txt']
const ENTANGLED = ['a', 'a/b', 'a/b/c', 'a/d', 'a.txt', 'e', 'e/f', 'g/h/i', 'g/h/j', 'run']
const MODES = ['100644', '100644', '100644', '100755']
const LINES = 14

/**
 * A repository of the real git with commits `c1`, `c2` and so on as branches, made up from a seed to be merged: the same
 * few paths are files, links and submodules, their texts overlap, modes change, and merges cross each other. No path
 * ever has anything like what another has, since git would take it for renamed.
 *
 * @param entangled whether what is a file in one commit may be a directory in another; else merges cross each other more
 */
export function mergeHistory(random: Random, size: number, entangled: boolean): ScratchRepository {
  const repository = new ScratchRepository({ bare: true })
  const stream: string[] = []
  for (let commit = 1; commit <= size; commit++) {
    stream.push(`commit refs/heads/c${commit}`, `mark :${commit}`)
    stream.push(`committer A <a@b> ${1_700_000_000 + commit * 60} +0000`, data(`c${commit}`))
    const parents = new Set(parentsOf(random, commit, !entangled))
    ;[...parents].forEach((parent, i) => {
      stream.push(`${i === 0 ? 'from' : 'merge'} :${parent}`)
    })
    const changes = commit === 1 ? 8 : 1 + random.below(4)
    for (let change = 0; change < changes; change++)
      stream.push(changeOf(random, random.pick(entangled ? ENTANGLED : APART)))
  }
  repository.git(['fast-import', '--quiet', '--force', '--done'], Buffer.from(`${stream.join('\n')}\ndone\n`, 'latin1'))
  return repository
}

function parentsOf(random: Random, commit: number, crosses: boolean): number[] {
  if (commit === 1 || random.chance(0.02)) return []
  const back = (steps: number) => Math.max(1, commit - steps)
  if (!crosses) return [back(1 + random.below(6)), ...(random.chance(0.3) ? [back(1 + random.below(6))] : [])]
  // Three lanes that merge what the others were a while ago.
  return [back(3), ...(random.chance(0.5) ? [back(random.pick([1, 2, 4, 5]))] : [])]
}

function changeOf(random: Random, path: string): string {
  const kind = random.next()
  const other = 1 + random.below(3)
  if (kind < 0.12) return `D ${path}`
  if (kind < 0.17) return `M 160000 ${createHash('sha1').update(`${path} ${other}`).digest('hex')} ${path}`
  if (kind < 0.22) return `M 120000 inline ${path}\n${data(`${path} ${other}`)}`
  if (kind < 0.27) return `M ${random.pick(MODES)} inline ${path}\n${data(`\0${path} ${other}`)}`
  return `M ${random.pick(MODES)} inline ${path}\n${data(textOf(random, path))}`
}

/** All texts of a path are alike but for a few lines. */
function textOf(random: Random, path: string): string {
  const lines = Array.from({ length: LINES }, (_, i) => `${path} line ${i}`)
  for (let edit = random.below(3); edit > 0; edit--) lines[random.below(LINES)] = `${path} changed ${random.below(3)}`
  return `${lines.join('\n')}\n`
}

function data(text: string): string {
  return `data ${text.length}\n${text}`
}

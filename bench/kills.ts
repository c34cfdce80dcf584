import type { Report, Row } from './report.ts'
import { circumstances, openStage } from './stage.ts'
import { killTrial } from './swarm/kill-trial.ts'

/** The runtime is killed while clients commit, and the PDS fails: what they were told must be so in the end. */
export async function benchKills({
  agents,
  count,
  seed,
}: {
  agents: number
  count: number
  seed: number
}): Promise<Report> {
  await using stage = await openStage()
  const { alice: owner } = stage
  const start = performance.now()
  const outcome = await killTrial({ ...stage, owner }, { clients: agents, kills: count, seed, repository: 'kills' })
  const none = (name: string, found: readonly string[], unit = 'commits'): Row => {
    return { name, ours: found.length, other: null, unit, reach: '<= 0' }
  }
  const { lost, doubled, disordered, contradicted, strange, unsound, isInAccount, faults, ...counts } = outcome
  const wrong = [...lost, ...doubled, ...disordered, ...contradicted, ...strange, ...unsound]
  return {
    bench: 'kills',
    other: 'nothing',
    rows: [
      { name: 'runtime killed', ours: count, other: null, unit: 'times', reach: null },
      none('acknowledged or stored, and not there', lost),
      none('there more than once', doubled),
      none('out of the order of their client', disordered),
      none('answered twice, and not the same', contradicted),
      none('answered strangely', strange, 'answers'),
      none('of which git fsck complains', unsound, 'clones'),
      none('that the account alone does not make', isInAccount ? [] : ['history'], 'histories'),
    ],
    facts: {
      ...counts,
      seed,
      seconds: Math.round((performance.now() - start) / 1_000),
      faults_of_the_PDS: JSON.stringify(faults),
      ...Object.fromEntries(wrong.map((text, n) => [`fault_${n + 1}`, text])),
      ...(await circumstances(stage)),
    },
  }
}

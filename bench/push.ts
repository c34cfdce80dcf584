import { measureInTurn, median } from './measure.ts'
import type { Report } from './report.ts'
import { circumstances, commitOnTop, copySource, LONG_TIMEOUT, openStage } from './stage.ts'

/**
 * A whole history into a new repository, and then single commits on top of it: the edge (which writes it into an
 * account) against git's http-backend (which writes it to its disk).
 */
export async function benchPush({ repository, rounds }: { repository: string; rounds: number }): Promise<Report> {
  await using stage = await openStage()
  const { git, atmosphere } = stage
  const source = await copySource(stage, repository)
  const push = async (address: string, refspecs: readonly string[]) => {
    await git.run(['push', '--quiet', address, ...refspecs], {
      cwd: source.directory,
      timeoutMilliseconds: LONG_TIMEOUT,
    })
  }
  const requestsDuring = async (counts: number[], action: () => Promise<void>) => {
    const before = atmosphere.requests.length
    await action()
    counts.push(atmosphere.requests.length - before)
  }

  const wholeRequests: number[] = []
  const whole = await measureInTurn(
    { run: (round) => requestsDuring(wholeRequests, () => push(stage.atEdge(`push-${round}`), source.refspecs)) },
    {
      prepare: async (round) => void (await stage.createAtBackend(`push-${round}`)),
      run: (round) => push(stage.atBackend(`push-${round}`), source.refspecs),
    },
    rounds,
  )

  const smallRequests: number[] = []
  const branch = [source.refspecs[0] as string]
  const small = await measureInTurn(
    {
      prepare: (round) => commitOnTop(stage, source, `bench-${round}`),
      run: () => requestsDuring(smallRequests, () => push(stage.atEdge(`push-${rounds}`), branch)),
    },
    { run: () => push(stage.atBackend(`push-${rounds}`), branch) },
    rounds,
  )

  return {
    bench: 'push',
    other: 'http-backend',
    rows: [
      { name: 'whole history, new repository', ...whole, unit: 'ms', reach: '<= 2.0' },
      { name: 'one commit, warm', ...small, unit: 'ms', reach: null },
      {
        name: 'PDS requests for one commit, warm',
        ours: median(smallRequests),
        other: null,
        unit: 'requests',
        reach: '<= 1',
      },
    ],
    facts: {
      ...source.facts,
      rounds,
      pds_requests: median(smallRequests),
      pds_requests_whole_history: median(wholeRequests),
      ...(await circumstances(stage)),
    },
  }
}

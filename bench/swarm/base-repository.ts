import { ZERO_OID } from '../../git/bytes/oid.ts'
import { commitFlat, type FlatCommit, packOf } from '../flat-commit.ts'
import { pushRaw } from '../push-raw.ts'
import type { Stage } from '../stage.ts'
import type { GatewayAgent } from './gateway-agent.ts'

/** Files of the repository before an agent comes. */
const FILES = 20

/**
 * A new repository with these branches, all on one commit.
 *
 * @param refs full names
 */
export async function pushBase(
  { alice, readUrl }: Stage,
  name: string,
  refs: readonly string[],
): Promise<{ readonly repo: string; readonly base: FlatCommit }> {
  const files = Array.from({ length: FILES }, (_, n): [string, string] => [`file-${n}.txt`, `file ${n}\n`])
  const base = commitFlat({ parent: null, write: new Map(files), message: 'base', time: 1_700_000_000 })
  const updates = refs.map((ref) => ({ name: ref, from: ZERO_OID, to: base.oid }))
  await pushRaw(readUrl(name), alice, updates, packOf(base.objects))
  return { repo: `${alice.handle}/${name}`, base }
}

/** Each agent looks at its branch, as it will have before it changes something, and is connected by that. */
export async function lookAround(
  agents: readonly GatewayAgent[],
  repo: string,
  branches: readonly string[],
): Promise<void> {
  await Promise.all(
    agents.map(async ({ connection }, n) => {
      const ref = encodeURIComponent(branches[n % branches.length] as string)
      const { status, body } = await connection.send(`/xrpc/dev.skein.git.getCommit?repo=${repo}&ref=${ref}`)
      if (status !== 200) throw new Error(`a look was answered ${status}: ${body}`)
    }),
  )
}

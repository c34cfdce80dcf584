import { onTestFinished } from 'vitest'
import type { Account } from '../../../dev/atmosphere.ts'
import { type Edge, startEdge } from '../../../dev/edge.ts'
import type { World } from '../harness.ts'

/** Another edge in a world, with settings of its own. */
export interface OtherEdge extends Edge {
  /** A repository's address, without credentials. */
  at(owner: Account, repository: string): string
  /** The same with the owner's credentials in it. */
  as(owner: Account, repository: string): string
}

/**
 * Starts an edge for one test, which closes it.
 *
 * @param stateDirectory that of one that was closed: it goes on with what that had
 */
export async function edgeWith(
  { atmosphere: { pdsUrl, plcUrl }, directory }: World,
  vars: Readonly<Record<string, string>>,
  stateDirectory?: string,
): Promise<OtherEdge> {
  const edge = await startEdge({
    port: 0,
    stateDirectory: stateDirectory ?? (await directory()),
    pdsUrl,
    plcUrl,
    vars,
  })
  onTestFinished(() => edge.close())
  return {
    ...edge,
    at: ({ handle }, repository) => `${edge.url}/${handle}/${repository}`,
    as: ({ handle, password }, repository) =>
      `${edge.url.replace('//', `//${handle}:${password}@`)}/${handle}/${repository}`,
  }
}

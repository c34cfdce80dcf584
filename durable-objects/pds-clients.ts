import { createGuardedFetch } from '../atproto/network/guarded-fetch.ts'
import { HostBudget } from '../atproto/pds/host-budget.ts'
import { PdsClient } from '../atproto/pds/pds-client.ts'
import { type Environment, readNetworkConfig } from './environment.ts'

/** What hosts allow is counted by address, so all clients of an isolate share one account of it. */
const budget = new HostBudget()

/** @param service origin of the PDS. */
export function createPdsClient(environment: Environment, service: string, account?: string): PdsClient {
  const { allowPrivateHosts } = readNetworkConfig(environment)
  const fetch = createGuardedFetch({ allowPrivateHosts })
  return new PdsClient({ service, fetch, budget, ...(account === undefined ? {} : { account }) })
}

import type { AccountWriter } from './account-writer/account-writer.ts'
import type { BranchAddress } from './branch-queue/answers.ts'
import type { BranchQueue } from './branch-queue/branch-queue.ts'
import type { Environment } from './environment.ts'
import type { Firehose } from './firehose/firehose.ts'
import type { Repository } from './repository/repository.ts'

/** The object that writes to an account. */
export function accountWriterOf(
  { ACCOUNT_WRITER }: Pick<Environment, 'ACCOUNT_WRITER'>,
  did: string,
): DurableObjectStub<AccountWriter> {
  return ACCOUNT_WRITER.get(ACCOUNT_WRITER.idFromName(did))
}

/** The object that mirrors a repository. @param rkey of `dev.skein.repo` */
export function repositoryOf(
  { REPOSITORY }: Pick<Environment, 'REPOSITORY'>,
  did: string,
  rkey: string,
): DurableObjectStub<Repository> {
  return REPOSITORY.get(REPOSITORY.idFromName(`${did}/${rkey}`))
}

/** The object that lands what is handed in for a branch. */
export function branchQueueOf(
  { BRANCH_QUEUE }: Pick<Environment, 'BRANCH_QUEUE'>,
  { did, rkey, ref }: Pick<BranchAddress, 'did' | 'rkey' | 'ref'>,
): DurableObjectStub<BranchQueue> {
  return BRANCH_QUEUE.get(BRANCH_QUEUE.idFromName(`${did}/${rkey}/${ref}`))
}

/** The object that follows an upstream. @param name its URL, as it stands in `UPSTREAMS` */
export function firehoseOf({ FIREHOSE }: Pick<Environment, 'FIREHOSE'>, name: string): DurableObjectStub<Firehose> {
  return FIREHOSE.get(FIREHOSE.idFromName(name))
}

import type { AccountWriter } from './account-writer/account-writer.ts'
import type { Environment } from './environment.ts'
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

import type { IndexedRepository } from '../../storage/index/indexed-repository.ts'
import { repositoryJson } from './repository-json.ts'

/** `dev.skein.repo.defs#repository` of what the index knows. */
export function indexedRepositoryJson({
  did,
  handle,
  rkey,
  record,
  pushedAt,
}: IndexedRepository): Record<string, unknown> {
  return { ...repositoryJson({ account: { did, handle }, rkey, record }), pushedAt: timeJson(pushedAt) }
}

/** @param time milliseconds since 1970 */
export function timeJson(time: number | null): string | undefined {
  return time === null ? undefined : new Date(time).toISOString()
}

/** A repository by its account and the record key of its `dev.skein.repo`. */
export interface RepositoryKey {
  readonly did: string
  readonly rkey: string
}

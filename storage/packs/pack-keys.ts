/** Where a pack's three files lie in R2. All are immutable: a pack that changes is another pack. */
export interface PackKeys {
  readonly pack: string
  readonly index: string
  readonly graph: string
}

/** Everything of one repository starts with this. */
export function repositoryPrefix(did: string, rkey: string): string {
  return `packs/${did}/${rkey}/`
}

/** @param id the pack's id within the repository: the TID of the account's pack, or one that the mirror made up. */
export function packKeys(did: string, rkey: string, id: string): PackKeys {
  const stem = repositoryPrefix(did, rkey) + id
  return { pack: `${stem}.pack`, index: `${stem}.idx`, graph: `${stem}.graph` }
}

/** Where it lies in R2 what was gathered of a repository: its languages, who wrote it. Neither is of a pack, both are written over. */
export function factsKey(did: string, rkey: string): string {
  return `${repositoryPrefix(did, rkey)}facts.json`
}

/** Where it lies in R2 which commits last changed the entries of a root directory. */
export function lastCommitsKey(did: string, rkey: string): string {
  return `${repositoryPrefix(did, rkey)}last-commits.json`
}

/**
 * The id of a pack that the mirror makes of others: of another form than those of the account's packs.
 *
 * @param tid one that is newer than those of all packs
 */
export function mergedPackId(tid: string): string {
  return `${tid}-merged`
}

/**
 * The id of one of the packs that the mirror cuts a pack into; they are in the order of their ids.
 *
 * @param stem see {@link mergedPackId}
 */
export function partPackId(stem: string, number: number): string {
  return `${stem}-part-${String(number).padStart(4, '0')}`
}

/** Where it lies in R2 where the entries of such a part were in the pack that it was cut from. */
export function partOffsetsKey(did: string, rkey: string, id: string): string {
  return `${repositoryPrefix(did, rkey)}${id}.offsets`
}

/** Where it lies in R2 which entries of other parts the deltas of such a part stand on. */
export function partBasesKey(did: string, rkey: string, id: string): string {
  return `${repositoryPrefix(did, rkey)}${id}.bases`
}

/**
 * What the keys of the files begin with that the links of such parts are kept in until all are linked.
 *
 * @param stem see {@link partPackId}
 */
export function linksPrefix(did: string, rkey: string, stem: string): string {
  return `${repositoryPrefix(did, rkey)}${stem}.`
}

/** The id of the pack that a key of one of its files belongs to. */
export function packIdOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).split('.')[0]!
}

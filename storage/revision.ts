import { isOid, type Oid } from '../git/bytes/oid.ts'
import { type Commit, parseCommit } from '../git/object/commit.ts'
import { MissingObjectError } from '../git/object/missing-object-error.ts'
import { BLOB, COMMIT, type ObjectType, TAG, TREE } from '../git/object/object-type.ts'
import { readObject } from '../git/object/read-object.ts'
import { parseTag } from '../git/object/tag.ts'
import { expandName } from '../git/refs/expand-ref.ts'
import { findRef } from '../git/refs/ref-order.ts'
import type { Manifest, ManifestRef } from './manifest.ts'
import type { RepositoryObjects, RepositoryView } from './repository-view.ts'

/** The object that a revision names, tags not followed. */
export interface Revision {
  readonly oid: Oid
  /** Full name of the ref that was meant, or null where an id was given. */
  readonly ref: string | null
  /** Whether the full id was given, so that the revision will name the same object forever. */
  readonly exact: boolean
}

export type RevisionOutcome =
  | { readonly kind: 'found'; readonly revision: Revision }
  | { readonly kind: 'absent' }
  /** HEAD names a branch that does not exist. */
  | { readonly kind: 'unborn'; readonly branch: string }
  /** An abbreviated id that several objects share; some of them. */
  | { readonly kind: 'ambiguous'; readonly oids: readonly Oid[] }

/** What is asked for, where an abbreviated id alone does not tell. */
export type WantedType = 'commit' | 'tree' | 'blob'

const ABBREVIATION = /^[0-9a-f]{4,39}$/i
/** Objects of one abbreviation that are looked at to find the only one of the wanted type. */
const MAX_CANDIDATES = 32
/** Tags of tags that are followed. */
const MAX_TAG_DEPTH = 32

/**
 * Finds what a revision names, in git's own order (gitrevisions(7)): a full id; a ref by its full or short name, tags
 * before branches; an abbreviated id of at least 4 digits.
 */
export async function resolveRevision(
  view: RepositoryView,
  text: string,
  wanted: WantedType,
): Promise<RevisionOutcome> {
  if (isOid(text.toLowerCase())) return resolveOid(view.objects, text.toLowerCase())
  if (text === 'HEAD') return resolveHead(view.manifest)
  const ref = findRefByShortName(view.manifest, text)
  if (ref !== null) return found({ oid: ref.target, ref: ref.name, exact: false })
  if (!ABBREVIATION.test(text)) return { kind: 'absent' }
  return resolveAbbreviation(view.objects, text.toLowerCase(), wanted)
}

function found(revision: Revision): RevisionOutcome {
  return { kind: 'found', revision }
}

async function resolveOid(objects: RepositoryObjects, oid: Oid): Promise<RevisionOutcome> {
  return (await objects.stat(oid)) === null ? { kind: 'absent' } : found({ oid, ref: null, exact: true })
}

function resolveHead(manifest: Manifest): RevisionOutcome {
  const branch = manifest.defaultBranch
  const ref = findRef(manifest.refs, `refs/heads/${branch}`)
  return ref === null ? { kind: 'unborn', branch } : found({ oid: ref.target, ref: ref.name, exact: false })
}

async function resolveAbbreviation(
  objects: RepositoryObjects,
  prefix: string,
  wanted: WantedType,
): Promise<RevisionOutcome> {
  const oids = await objects.findByPrefix(prefix, MAX_CANDIDATES)
  if (oids.length === 0) return { kind: 'absent' }
  const fitting = oids.length === 1 ? oids : await filterByType(objects, oids, wanted)
  if (fitting.length !== 1) return { kind: 'ambiguous', oids: fitting.length === 0 ? oids : fitting }
  return found({ oid: fitting[0]!, ref: null, exact: false })
}

/** Types of objects that are or may lead to what is wanted. */
const FITTING: Record<WantedType, readonly ObjectType[]> = {
  commit: [COMMIT, TAG],
  tree: [COMMIT, TAG, TREE],
  blob: [BLOB, TAG],
}

async function filterByType(objects: RepositoryObjects, oids: readonly Oid[], wanted: WantedType): Promise<Oid[]> {
  const stats = await Promise.all(oids.map((oid) => objects.stat(oid)))
  return oids.filter((_, i) => {
    const type = stats[i]?.type
    return type !== undefined && FITTING[wanted].includes(type)
  })
}

export function findRefByShortName(manifest: Manifest, name: string): ManifestRef | null {
  for (const fullName of expandName(name)) {
    const ref = findRef(manifest.refs, fullName)
    if (ref !== null) return ref
  }
  return null
}

/** What an object leads to when it is a tag, else itself. @throws {@link MissingObjectError} */
export async function peelTags(objects: RepositoryObjects, oid: Oid): Promise<{ oid: Oid; type: ObjectType }> {
  let at = oid
  for (let depth = 0; depth < MAX_TAG_DEPTH; depth++) {
    const stat = await objects.stat(at)
    if (stat === null) throw new MissingObjectError(at)
    if (stat.type !== TAG) return { oid: at, type: stat.type }
    at = parseTag(await readObject(objects, at, TAG)).target
  }
  return { oid: at, type: TAG }
}

/** A commit and its id. */
export interface NamedCommit {
  readonly oid: Oid
  readonly commit: Commit
}

/** The commit that an object is or leads to, or null if it leads to none. @throws {@link MissingObjectError} */
export async function peelToCommit(objects: RepositoryObjects, oid: Oid): Promise<NamedCommit | null> {
  const peeled = await peelTags(objects, oid)
  if (peeled.type !== COMMIT) return null
  return { oid: peeled.oid, commit: parseCommit(await readObject(objects, peeled.oid, COMMIT)) }
}

/** A tree, and the commit that led to it if one did. */
export interface PeeledTree {
  readonly tree: Oid
  readonly commit: Oid | null
}

/** The tree that an object is or leads to, or null if it leads to none. @throws {@link MissingObjectError} */
export async function peelToTree(objects: RepositoryObjects, oid: Oid): Promise<PeeledTree | null> {
  const peeled = await peelTags(objects, oid)
  if (peeled.type === TREE) return { tree: peeled.oid, commit: null }
  if (peeled.type !== COMMIT) return null
  const commit = parseCommit(await readObject(objects, peeled.oid, COMMIT))
  return { tree: commit.tree, commit: peeled.oid }
}

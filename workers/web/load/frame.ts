import type { Oid } from '../../../git/bytes/oid.ts'
import { joinPath } from '../../../git/object/path.ts'
import { firstRefFrom } from '../../../git/refs/ref-order.ts'
import type { Manifest, ManifestRef } from '../../../storage/manifest.ts'
import { findRefByShortName } from '../../../storage/revision.ts'
import { splitRevisionAndPath } from '../../files/revision-and-path.ts'
import { HttpError } from '../../http/http-error.ts'
import { requireRevision } from '../../repository-access.ts'
import type { OpenedRepository } from '../deps.ts'
import { repositoryHref } from '../hrefs.ts'
import type { PageCall } from '../page.ts'

/** What every page of a repository says of it. */
export interface RepositoryFrame {
  readonly did: string
  readonly rkey: string
  /** Handle, or the DID where none verifies. */
  readonly actor: string
  readonly name: string
  /** Path of the repository's page. */
  readonly base: string
  readonly description: string | null
  readonly defaultBranch: string
  readonly branches: number
  readonly tags: number
}

/** Which state of the repository a page shows. */
export interface ShownRevision {
  /** As URLs name it: short where that is enough. */
  readonly name: string
  /** Full name of the ref; null where an id was given. */
  readonly ref: string | null
  /** What it names, tags not followed. */
  readonly oid: Oid
  /** Whether its full id was given. */
  readonly exact: boolean
}

/** A place that a URL names: a revision, and a path in it. */
export interface ShownPlace {
  readonly revision: ShownRevision
  readonly path: Uint8Array
}

export const BRANCHES = 'refs/heads/'
export const TAGS = 'refs/tags/'

export async function openCalled({ deps, actor, repository }: PageCall): Promise<OpenedRepository> {
  return deps.open({ actor, name: repository })
}

export function frameOf({ view: { manifest, actor }, record, rkey, account }: OpenedRepository): RepositoryFrame {
  return {
    did: account.did,
    rkey,
    actor,
    name: record.name,
    base: repositoryHref(actor, record.name),
    description: record.description?.trim() || null,
    defaultBranch: manifest.defaultBranch,
    branches: countRefs(manifest, BRANCHES),
    tags: countRefs(manifest, TAGS),
  }
}

/** What a page of the repository depends on, whatever it shows of it. */
export function frameKey({ view: { manifest, actor }, record }: OpenedRepository): readonly unknown[] {
  return [manifest.did, manifest.rkey, manifest.version, actor, record]
}

/** The same for a page of a place in it. */
export function placeKey(opened: OpenedRepository, { revision }: ShownPlace): readonly unknown[] {
  return revision.exact ? [opened.view.manifest.did, revision.oid] : [...frameKey(opened), revision.oid]
}

function countRefs({ refs }: Manifest, prefix: string): number {
  return firstRefFrom(refs, `${prefix.slice(0, -1)}0`) - firstRefFrom(refs, prefix)
}

/** The refs below a prefix, as a part of the manifest's list. */
export function refsBelow({ refs }: Manifest, prefix: string): readonly ManifestRef[] {
  // `0` comes after `/`.
  return refs.slice(firstRefFrom(refs, prefix), firstRefFrom(refs, `${prefix.slice(0, -1)}0`))
}

/** What a URL calls a ref: its short name, unless that means something else. */
export function refInUrl(manifest: Manifest, fullName: string): string {
  const short = shortName(fullName)
  const isTaken = short === 'HEAD' || /^[0-9a-f]{40}$/i.test(short)
  return !isTaken && findRefByShortName(manifest, short)?.name === fullName ? short : fullName
}

/** Without `refs/heads/` or `refs/tags/`. */
export function shortName(fullName: string): string {
  return fullName.replace(/^refs\/(?:heads|tags)\//, '')
}

/** @throws {@link HttpError} 404 where the URL names nothing, 400 where it is ambiguous */
export async function findPlace(
  { view }: OpenedRepository,
  rest: Uint8Array,
  wanted: 'commit' | 'tree' = 'tree',
): Promise<ShownPlace> {
  const split = splitRevisionAndPath(view.manifest, rest)
  if (split === null) throw new HttpError(404, 'RevisionNotFound', 'no branch, tag or commit is named so')
  const { oid, ref, exact } = await requireRevision(view, split.revision, wanted)
  const name = ref === null ? split.revision : refInUrl(view.manifest, ref)
  return { revision: { name, ref, oid, exact }, path: split.path.reduce(joinPath, new Uint8Array(0)) }
}

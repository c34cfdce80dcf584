import type { Manifest, ManifestRef } from '../../../storage/manifest.ts'
import { BRANCHES, refInUrl, refsBelow, shortName, TAGS } from './frame.ts'

/** Branches and tags to switch to. */
export interface RefChoices {
  readonly branches: readonly RefChoice[]
  readonly tags: readonly RefChoice[]
  readonly hasMoreBranches: boolean
  readonly hasMoreTags: boolean
}

export interface RefChoice {
  /** For people. */
  readonly name: string
  /** As URLs name it. */
  readonly revision: string
  /** Full name. */
  readonly ref: string
}

/** So many of each kind are offered: all are on pages of their own. */
const OFFERED = 30

/** The default branch first, then in the order of names; of tags the last by name, which mostly are the newest. */
export function refChoices(manifest: Manifest): RefChoices {
  const branches = refsBelow(manifest, BRANCHES)
  const tags = refsBelow(manifest, TAGS)
  const isDefault = ({ name }: ManifestRef) => name === `${BRANCHES}${manifest.defaultBranch}`
  const ordered = [...branches.filter(isDefault), ...branches.slice(0, OFFERED).filter((ref) => !isDefault(ref))]
  const choice = ({ name }: ManifestRef) => ({ name: shortName(name), revision: refInUrl(manifest, name), ref: name })
  return {
    branches: ordered.slice(0, OFFERED).map(choice),
    tags: tags.slice(-OFFERED).reverse().map(choice),
    hasMoreBranches: branches.length > OFFERED,
    hasMoreTags: tags.length > OFFERED,
  }
}

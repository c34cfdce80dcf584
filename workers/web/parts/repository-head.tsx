import { formatCount } from '../format.ts'
import { accountHref, encodePath } from '../hrefs.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import { BranchIcon, CodeIcon, CommitIcon, CompareIcon, TagIcon } from './icons.tsx'
import { Name } from './name.tsx'

export type RepositoryTab = 'code' | 'commits' | 'branches' | 'tags' | 'compare'

interface Props {
  readonly frame: RepositoryFrame
  readonly tab: RepositoryTab
  /** Whether the name is the heading of the page. */
  readonly isTitle?: boolean
  /** That tabs stay with; default: the default branch. */
  readonly revision?: string
}

/** Whose repository it is, and its pages. */
export function RepositoryHead({ frame, tab, isTitle = false, revision }: Props) {
  const { actor, name, base, branches, tags, defaultBranch } = frame
  const path = encodePath(revision ?? defaultBranch)
  const title = (
    <>
      <a class="owner" href={accountHref(actor)}>
        <Name>{actor}</Name>
      </a>
      <span class="slash"> / </span>
      <a href={base}>
        <Name>{name}</Name>
      </a>
    </>
  )
  const current = (of: RepositoryTab) => (of === tab ? 'page' : undefined)
  return (
    <header class="repo-head" data-repository={base} data-revision={revision ?? defaultBranch}>
      {isTitle ? <h1 class="repo-name">{title}</h1> : <p class="repo-name">{title}</p>}
      <nav aria-label="Repository">
        <ul class="tabs">
          <li>
            <a href={revision === undefined ? base : `${base}/tree/${path}`} aria-current={current('code')}>
              <CodeIcon /> Code
            </a>
          </li>
          <li>
            <a href={`${base}/commits/${path}`} aria-current={current('commits')}>
              <CommitIcon /> Commits
            </a>
          </li>
          <li>
            <a href={`${base}/branches`} aria-current={current('branches')}>
              <BranchIcon /> Branches <span class="count">{formatCount(branches)}</span>
            </a>
          </li>
          <li>
            <a href={`${base}/tags`} aria-current={current('tags')}>
              <TagIcon /> Tags <span class="count">{formatCount(tags)}</span>
            </a>
          </li>
          <li>
            <a href={`${base}/compare`} aria-current={current('compare')}>
              <CompareIcon /> Compare
            </a>
          </li>
        </ul>
      </nav>
    </header>
  )
}

import { revisionHref } from '../hrefs.ts'
import type { RepositoryFrame, ShownPlace } from '../load/frame.ts'
import type { RefChoice, RefChoices } from '../load/ref-choices.ts'
import { BranchIcon, CommitIcon, TagIcon } from './icons.tsx'
import { Name } from './name.tsx'

interface Props {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  readonly choices: RefChoices
  /** The page to stay on. */
  readonly page: 'tree' | 'blob' | 'commits'
}

/** Which branch, tag or commit is shown, and the others: links in a `<details>`, which opens without a script. */
export function RefSwitcher({ frame, place, choices, page }: Props) {
  const { ref, name } = place.revision
  const shown = ref === null ? name.slice(0, 12) : ref.replace(/^refs\/(?:heads|tags)\//, '')
  const kind = ref === null ? 'Commit' : ref.startsWith('refs/tags/') ? 'Tag' : 'Branch'
  const list = (refs: readonly RefChoice[]) => (
    <ul>
      {refs.map((choice) => (
        <li>
          <a
            href={revisionHref(frame.base, page, choice.revision, place.path)}
            aria-current={choice.ref === ref ? 'true' : undefined}
          >
            <Name>{choice.name}</Name>
          </a>
        </li>
      ))}
    </ul>
  )
  return (
    <details class="menu" data-menu>
      <summary>
        {kind === 'Tag' ? <TagIcon /> : kind === 'Branch' ? <BranchIcon /> : <CommitIcon />}
        <span class="hidden">{kind} </span>
        <span class="cut">
          <Name>{shown}</Name>
        </span>
      </summary>
      <div class="menu-body">
        {choices.branches.length > 0 && (
          <>
            <p>Branches</p>
            {list(choices.branches)}
            {choices.hasMoreBranches && <a href={`${frame.base}/branches`}>All branches</a>}
          </>
        )}
        {choices.tags.length > 0 && (
          <>
            <p>Tags</p>
            {list(choices.tags)}
            {choices.hasMoreTags && <a href={`${frame.base}/tags`}>All tags</a>}
          </>
        )}
      </div>
    </details>
  )
}

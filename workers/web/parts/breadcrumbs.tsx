import { joinPath, splitPath } from '../../../git/object/path.ts'
import { decodeText } from '../../../git/object/text.ts'
import { revisionHref } from '../hrefs.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import { Name } from './name.tsx'

interface Props {
  readonly frame: RepositoryFrame
  readonly revision: string
  readonly path: Uint8Array
  /** What the directories' links lead to. */
  readonly page?: 'tree' | 'commits'
}

/** The way from the root to a path; the last name is the page's heading. */
export function Breadcrumbs({ frame, revision, path, page = 'tree' }: Props) {
  const names = splitPath(path)
  const paths = names.map((_, i) => names.slice(0, i + 1).reduce(joinPath, new Uint8Array(0)))
  return (
    <div class="crumbs">
      <nav aria-label="Path">
        <a href={revisionHref(frame.base, page, revision)}>
          <Name>{frame.name}</Name>
        </a>
        {names.slice(0, -1).map((name, i) => (
          <>
            <span class="slash">/</span>
            <a href={revisionHref(frame.base, page, revision, paths[i])}>
              <Name>{decodeText(name)}</Name>
            </a>
          </>
        ))}
        <span class="slash">/</span>
      </nav>
      <h1>
        <Name>{decodeText(names.at(-1) ?? new Uint8Array(0))}</Name>
      </h1>
    </div>
  )
}

import { revisionHref } from '../hrefs.ts'
import type { CommitInfo } from '../load/commit-info.ts'
import type { TreeData } from '../load/tree.ts'
import { FileList } from '../parts/file-list.tsx'
import { CommitId, Name, When } from '../parts/name.tsx'
import { Prose } from '../parts/prose.tsx'
import { RefSwitcher } from '../parts/ref-switcher.tsx'

/** A directory: which state, what last changed it, its entries, its README. */
export function TreeBody({ data }: { readonly data: TreeData }) {
  const { frame, place, choices, commit, directory } = data
  const { readme } = directory
  const newest = place.path.length === 0 ? commit : directory.newest
  return (
    <>
      <div class="bar">
        <RefSwitcher frame={frame} place={place} choices={choices} page="tree" />
        {newest && <Newest base={frame.base} commit={newest} />}
        {commit && (
          <a class="button" href={revisionHref(frame.base, 'commits', place.revision.name, place.path)}>
            History
          </a>
        )}
      </div>
      <FileList frame={frame} place={place} directory={directory} />
      {readme !== null && (
        <section class="readme" aria-labelledby="readme">
          <h2 id="readme" class="file-title">
            <a href={revisionHref(frame.base, 'blob', place.revision.name, readme.path)}>
              <Name>{readme.name}</Name>
            </a>
          </h2>
          <Prose frame={frame} place={place} path={readme.path} text={readme.text} kind={readme.kind} />
        </section>
      )}
    </>
  )
}

function Newest({ base, commit }: { base: string; commit: CommitInfo }) {
  return (
    <p class="newest">
      <span class="cut">
        <b>
          <Name>{commit.author.name}</Name>
        </b>{' '}
        <Name>{commit.subject}</Name>
      </span>
      <span class="by">
        <CommitId base={base} oid={commit.oid} /> <When time={commit.committer.time} />
      </span>
    </p>
  )
}

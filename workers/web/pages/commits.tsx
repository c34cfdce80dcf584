import { decodeText } from '../../../git/object/text.ts'
import { commitsFeedHref } from '../feeds/feeds.ts'
import { revisionHref, withQuery } from '../hrefs.ts'
import type { CommitsData } from '../load/commits.ts'
import { Breadcrumbs } from '../parts/breadcrumbs.tsx'
import { CommitList } from '../parts/commit-list.tsx'
import { Layout } from '../parts/layout.tsx'
import { Name } from '../parts/name.tsx'
import { Pager } from '../parts/pager.tsx'
import { RefSwitcher } from '../parts/ref-switcher.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import type { Site } from '../site.ts'

export function CommitsPage({ frame, place, choices, commits, next, isFirst }: CommitsData, site: Site) {
  const { name } = place.revision
  const here = revisionHref(frame.base, 'commits', name, place.path)
  const hasPath = place.path.length > 0
  return (
    <Layout
      site={site}
      title={`Commits ${hasPath ? `to ${decodeText(place.path)} ` : ''}on ${name} · ${frame.actor}/${frame.name}`}
      canonical={here}
      isPassing={!isFirst}
      feed={commitsFeedHref(frame.base, name)}
    >
      <RepositoryHead frame={frame} tab="commits" revision={name} />
      {hasPath ? (
        <Breadcrumbs frame={frame} revision={name} path={place.path} page="commits" />
      ) : (
        <h1>
          Commits on <Name>{name}</Name>
        </h1>
      )}
      <div class="bar">
        <RefSwitcher frame={frame} place={place} choices={choices} page="commits" />
      </div>
      {commits.length === 0 && (
        <p class="note">
          {next === null ? 'There are none.' : 'There are none among those that were looked at so far.'}
        </p>
      )}
      <CommitList frame={frame} commits={commits} />
      <Pager
        previous={isFirst ? null : here}
        previousLabel="Newest"
        next={next === null ? null : withQuery(here, { after: next })}
        nextLabel="Older"
      />
    </Layout>
  )
}

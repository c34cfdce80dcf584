import { accountFeedHref } from '../feeds/feeds.ts'
import { countOf } from '../format.ts'
import { accountHref, withQuery } from '../hrefs.ts'
import type { AccountData } from '../load/account.ts'
import { Layout } from '../parts/layout.tsx'
import { PushList, RepositoryList } from '../parts/lists.tsx'
import { Name } from '../parts/name.tsx'
import { Pager } from '../parts/pager.tsx'
import type { Site } from '../site.ts'

export function AccountPage({ actor, did, repositories, total, next, pushes }: AccountData, site: Site) {
  const here = accountHref(actor)
  const count = total ?? repositories.length
  return (
    <Layout
      site={site}
      title={actor}
      description={`Repositories of ${actor}`}
      canonical={here}
      feed={accountFeedHref(actor)}
    >
      <header class="account-head">
        <h1>
          <Name>{actor}</Name>
        </h1>
        <p class="by did">{did}</p>
      </header>
      <div class="with-side">
        <section class="main-column">
          <h2>{countOf(count, 'repository', 'repositories')}</h2>
          {repositories.length === 0 ? (
            <div class="empty">
              <p>There are none yet. A push to a name that is not taken creates one:</p>
              <pre tabindex="0">{`git push ${site.origin}${here}/<repository> main`}</pre>
            </div>
          ) : (
            <RepositoryList repositories={repositories} hasOwners={false} />
          )}
          <Pager next={next === null ? null : withQuery(here, { after: next })} nextLabel="More" />
        </section>
        {pushes.length > 0 && (
          <aside class="side" aria-label="Activity">
            <h2>Newest pushes</h2>
            <PushList pushes={pushes} />
          </aside>
        )}
      </div>
    </Layout>
  )
}

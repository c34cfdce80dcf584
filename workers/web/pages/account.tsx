import { accountCardHref } from '../cards/cards.ts'
import { accountFeedHref } from '../feeds/feeds.ts'
import { countOf } from '../format.ts'
import { accountHref, avatarHref, withQuery } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { AccountData } from '../load/account.ts'
import { Layout } from '../parts/layout.tsx'
import { PushList, RepositoryList } from '../parts/lists.tsx'
import { Name } from '../parts/name.tsx'
import { Pager } from '../parts/pager.tsx'
import { messageHtml } from '../render/text.ts'
import type { Site } from '../site.ts'

export function AccountPage(data: AccountData, site: Site) {
  const { actor, did, profile, repositories, total, next, pushes } = data
  const here = accountHref(actor)
  const count = total ?? repositories.length
  return (
    <Layout
      site={site}
      title={actor}
      description={`Repositories of ${actor}`}
      canonical={here}
      feed={accountFeedHref(actor)}
      card={accountCardHref(data)}
    >
      <header class="account-head">
        {profile.avatar !== null && (
          <img class="avatar" src={avatarHref(did, profile.avatar)} alt="" width={80} height={80} />
        )}
        <div>
          <h1>
            <Name>{profile.displayName || actor}</Name>
          </h1>
          {profile.displayName !== '' && (
            <p>
              <Name>{actor}</Name>
            </p>
          )}
          <p class="by did">{did}</p>
          {profile.description !== '' && <p class="bio">{new Html(messageHtml(profile.description))}</p>}
        </div>
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

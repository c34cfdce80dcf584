import { countOf } from '../format.ts'
import { withQuery } from '../hrefs.ts'
import type { SearchData } from '../load/search.ts'
import { Layout } from '../parts/layout.tsx'
import { RepositoryList } from '../parts/lists.tsx'
import { Name } from '../parts/name.tsx'
import { Pager } from '../parts/pager.tsx'
import type { Site } from '../site.ts'

export function SearchPage(data: SearchData, site: Site) {
  const { query, topic, repositories, accounts, next } = data
  const isAsked = query !== '' || topic !== null
  return (
    <Layout site={site} title={query === '' ? 'Search' : `Search: ${query}`} isPassing>
      <h1>
        {topic !== null ? (
          <>
            Repositories about <Name>{topic}</Name>
          </>
        ) : query === '' ? (
          'Search'
        ) : (
          <>
            Results for “<Name>{query}</Name>”
          </>
        )}
      </h1>
      {!isAsked && <p class="lead">Names of repositories, words of their descriptions, topics, handles.</p>}
      {accounts.length > 0 && (
        <section>
          <h2>Accounts</h2>
          <ul class="accounts">
            {accounts.map(({ actor, href, repositories }) => (
              <li>
                <a href={href}>
                  <b>
                    <Name>{actor}</Name>
                  </b>
                </a>{' '}
                <span class="by">{countOf(repositories, 'repository', 'repositories')}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {isAsked && (
        <section>
          <h2>Repositories</h2>
          {repositories.length === 0 ? (
            <p class="note">None is known here. Fewer words find more; names are found by their beginning.</p>
          ) : (
            <RepositoryList repositories={repositories} />
          )}
        </section>
      )}
      <Pager
        next={
          next === null ? null : withQuery('/search', { q: query || undefined, topic: topic ?? undefined, after: next })
        }
        nextLabel="More"
      />
    </Layout>
  )
}

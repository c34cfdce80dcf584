import { tagsFeedHref } from '../feeds/feeds.ts'
import { countOf } from '../format.ts'
import { commitHref, encodePath, revisionHref, withQuery } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { RefsData } from '../load/refs.ts'
import { Layout } from '../parts/layout.tsx'
import { CommitId, Name, When } from '../parts/name.tsx'
import { Pager } from '../parts/pager.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import { messageHtml } from '../render/text.ts'
import type { Site } from '../site.ts'

/** Tags as what they are to those who use a program: its versions, with what the tagger says of each. */
export function ReleasesPage({ frame, refs, total, page, pages }: RefsData, site: Site) {
  const here = `${frame.base}/releases`
  return (
    <Layout
      site={site}
      title={`Releases · ${frame.actor}/${frame.name}`}
      canonical={here}
      isPassing={page > 1}
      feed={tagsFeedHref(frame.base)}
    >
      <RepositoryHead frame={frame} tab="tags" />
      <h1>{countOf(total, 'release')}</h1>
      {total === 0 && <p class="note">Each tag is a release. There are none yet.</p>}
      <ol class="releases">
        {refs.map(({ name, revision, commit, annotation }) => (
          <li>
            <h2>
              <a href={revisionHref(frame.base, 'tree', revision)}>
                <Name>{name}</Name>
              </a>
            </h2>
            <p class="by">
              {annotation !== null && (
                <>
                  <Name>{annotation.tagger.name}</Name>, <When time={annotation.tagger.time} />
                </>
              )}
              {commit !== null && (
                <>
                  {annotation === null ? null : '; '}
                  <CommitId base={frame.base} oid={commit.oid} />{' '}
                  <a href={commitHref(frame.base, commit.oid)}>
                    <Name>{commit.subject}</Name>
                  </a>
                  {annotation === null && (
                    <>
                      , <When time={commit.committer.time} />
                    </>
                  )}
                </>
              )}
            </p>
            {annotation !== null && (annotation.subject !== '' || annotation.body !== '') && (
              <pre class="plain">{new Html(messageHtml(notesOf(annotation)))}</pre>
            )}
            {commit !== null && (
              <ul class="actions">
                <li>
                  <a href={`${frame.base}/archive/${encodePath(revision)}.tar.gz`}>
                    tar.gz<span class="hidden"> of {name}</span>
                  </a>
                </li>
                <li>
                  <a href={`${frame.base}/archive/${encodePath(revision)}.zip`}>
                    zip<span class="hidden"> of {name}</span>
                  </a>
                </li>
              </ul>
            )}
          </li>
        ))}
      </ol>
      <Pager
        previous={page > 1 ? withQuery(here, { page: page - 1 }) : null}
        next={page < pages ? withQuery(here, { page: page + 1 }) : null}
        here={`Page ${page} of ${pages}`}
      />
    </Layout>
  )
}

function notesOf({ subject, body }: { readonly subject: string; readonly body: string }): string {
  return body === '' ? subject : `${subject}\n\n${body}`
}

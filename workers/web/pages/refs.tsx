import { tagsFeedHref } from '../feeds/feeds.ts'
import { countOf } from '../format.ts'
import { commitHref, encodePath, revisionHref, withQuery } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import type { RefsData, ShownRef } from '../load/refs.ts'
import { Layout } from '../parts/layout.tsx'
import { CommitId, Name, When } from '../parts/name.tsx'
import { Pager } from '../parts/pager.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import { messageHtml } from '../render/text.ts'
import type { Site } from '../site.ts'

const WORDS = { branches: ['branch', 'branches', 'Branches'], tags: ['tag', 'tags', 'Tags'] } as const

/** Branches, or tags. */
export function RefsPage({ frame, kind, refs, total, page, pages }: RefsData, site: Site) {
  const [one, many, title] = WORDS[kind]
  const here = `${frame.base}/${kind}`
  return (
    <Layout
      site={site}
      title={`${title} · ${frame.actor}/${frame.name}`}
      canonical={here}
      isPassing={page > 1}
      {...(kind === 'tags' ? { feed: tagsFeedHref(frame.base) } : {})}
    >
      <RepositoryHead frame={frame} tab={kind} />
      <h1>{countOf(total, one, many)}</h1>
      <ul class="refs">
        {refs.map((ref) => (
          <li>
            <Ref frame={frame} shown={ref} isBranch={kind === 'branches'} />
          </li>
        ))}
      </ul>
      <Pager
        previous={page > 1 ? withQuery(here, { page: page - 1 }) : null}
        next={page < pages ? withQuery(here, { page: page + 1 }) : null}
        here={`Page ${page} of ${pages}`}
      />
    </Layout>
  )
}

function Ref({ frame, shown, isBranch }: { frame: RepositoryFrame; shown: ShownRef; isBranch: boolean }) {
  const { name, revision, commit, isDefault, annotation } = shown
  const archive = `${frame.base}/archive/${encodePath(revision)}`
  return (
    <>
      <div>
        <h2>
          <a href={revisionHref(frame.base, 'tree', revision)}>
            <Name>{name}</Name>
          </a>
          {isDefault && <span class="badge">default</span>}
        </h2>
        {annotation !== null && annotation.subject !== '' && (
          <p>
            <Name>{annotation.subject}</Name>
          </p>
        )}
        {annotation !== null && annotation.body !== '' && (
          <details class="body">
            <summary>More of the message</summary>
            <pre>{new Html(messageHtml(annotation.body))}</pre>
          </details>
        )}
        {commit === null ? (
          <p class="by">Leads to no commit</p>
        ) : (
          <p class="by">
            <CommitId base={frame.base} oid={commit.oid} />{' '}
            <a href={commitHref(frame.base, commit.oid)}>
              <Name>{commit.subject}</Name>
            </a>
            , <When time={commit.committer.time} />
          </p>
        )}
      </div>
      {commit !== null && (
        <ul class="actions">
          {isBranch && !isDefault && (
            <li>
              <a href={`${frame.base}/compare/${encodePath(frame.defaultBranch)}...${encodePath(revision)}`}>
                Compare<span class="hidden"> {name}</span>
              </a>
            </li>
          )}
          <li>
            <a href={revisionHref(frame.base, 'commits', revision)}>
              Commits<span class="hidden"> on {name}</span>
            </a>
          </li>
          {!isBranch && (
            <>
              <li>
                <a href={`${archive}.tar.gz`}>
                  tar.gz<span class="hidden"> of {name}</span>
                </a>
              </li>
              <li>
                <a href={`${archive}.zip`}>
                  zip<span class="hidden"> of {name}</span>
                </a>
              </li>
            </>
          )}
        </ul>
      )}
    </>
  )
}

import { commitCardHref } from '../cards/cards.ts'
import { commitHref, revisionHref } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { CommitData } from '../load/commit.ts'
import type { Person } from '../load/commit-info.ts'
import { Diff } from '../parts/diff.tsx'
import { Layout } from '../parts/layout.tsx'
import { CommitId, Name, When } from '../parts/name.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import { messageHtml } from '../render/text.ts'
import type { Site } from '../site.ts'

export function CommitPage({ frame, commit, view, diff }: CommitData, site: Site) {
  const { oid, subject, body, author, committer, parents, isSigned } = commit
  const here = commitHref(frame.base, oid)
  const isSame = author.name === committer.name && author.email === committer.email
  return (
    <Layout
      site={site}
      title={`${subject || oid.slice(0, 8)} · ${frame.actor}/${frame.name}`}
      canonical={here}
      isPassing={diff.from > 0}
      card={commitCardHref(frame, commit)}
    >
      <RepositoryHead frame={frame} tab="commits" />
      <article class="commit">
        <h1>
          <Name>{subject || '(no message)'}</Name>
        </h1>
        {body !== '' && <pre class="message">{new Html(messageHtml(body))}</pre>}
        <dl class="facts wide">
          <Who as="Author" person={author} />
          {!isSame && <Who as="Committer" person={committer} />}
          <div>
            <dt>Commit</dt>
            <dd>
              <code class="full-oid">{oid}</code>
              {isSigned && (
                <span class="badge" title="Nobody here has checked the signature">
                  signed
                </span>
              )}
            </dd>
          </div>
          {parents.length > 0 && (
            <div>
              <dt>{parents.length > 1 ? 'Parents' : 'Parent'}</dt>
              <dd>
                {parents.map((parent) => (
                  <>
                    <CommitId base={frame.base} oid={parent} />{' '}
                  </>
                ))}
              </dd>
            </div>
          )}
          <div>
            <dt>Files</dt>
            <dd>
              <a href={revisionHref(frame.base, 'tree', oid)} rel="nofollow">
                All files at this commit
              </a>
            </dd>
          </div>
        </dl>
      </article>
      {parents.length > 1 && <p class="note">A merge: shown is what it brought to its first parent.</p>}
      <Diff frame={frame} diff={diff} view={view} revision={oid} here={here} />
    </Layout>
  )
}

function Who({ as, person: { name, email, time } }: { as: string; person: Person }) {
  return (
    <div>
      <dt>{as}</dt>
      <dd>
        <Name>{name}</Name>
        {email !== '' && (
          <span class="by">
            {' <'}
            <Name>{email}</Name>
            {'>'}
          </span>
        )}
        {', '}
        <When time={time} />
      </dd>
    </div>
  )
}

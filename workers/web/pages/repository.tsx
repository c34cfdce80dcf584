import { repositoryCardHref } from '../cards/cards.ts'
import type { Facts } from '../facts/gather-facts.ts'
import { commitsFeedHref } from '../feeds/feeds.ts'
import { countOf, formatSize } from '../format.ts'
import type { RepositoryData } from '../load/repository.ts'
import { CloneBox } from '../parts/clone-box.tsx'
import { Languages } from '../parts/languages.tsx'
import { Layout } from '../parts/layout.tsx'
import { Topics } from '../parts/lists.tsx'
import { Name, When } from '../parts/name.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import type { Site } from '../site.ts'
import { TreeBody } from './tree-body.tsx'

export function RepositoryPage({ frame, about, tree, facts, release }: RepositoryData, site: Site) {
  const https = `${site.origin}${frame.base}`
  return (
    <Layout
      site={site}
      title={`${frame.actor}/${frame.name}`}
      description={frame.description ?? `The repository ${frame.name} of ${frame.actor}`}
      canonical={frame.base}
      card={repositoryCardHref(frame, facts)}
      feed={commitsFeedHref(frame.base, frame.defaultBranch)}
      goImport={`${https.replace(/^https?:\/\//, '')} git ${https}`}
    >
      <RepositoryHead frame={frame} tab="code" isTitle />
      <div class="with-side">
        <div class="main-column">
          {tree === null ? <Empty https={https} branch={frame.defaultBranch} /> : <TreeBody data={tree} />}
        </div>
        <aside class="side" aria-label="About">
          <div class="side-first">
            {frame.description !== null && (
              <p class="about">
                <Name>{frame.description}</Name>
              </p>
            )}
            {about.website !== null && (
              <p class="website">
                <a href={about.website} rel="nofollow noopener ugc">
                  <Name>{about.website.replace(/^https?:\/\//, '').replace(/\/$/, '')}</Name>
                </a>
              </p>
            )}
            {about.topics.length > 0 && <Topics topics={about.topics} />}
            <CloneBox https={https} at={about.uri} />
          </div>
          {facts !== null && facts.languages.length > 0 && <Languages languages={facts.languages} />}
          <dl class="facts">
            {release !== null && (
              <div>
                <dt>Release</dt>
                <dd>
                  <a href={`${frame.base}/releases`}>
                    <Name>{release.name}</Name>
                  </a>
                </dd>
              </div>
            )}
            <Fact name="Branches" value={String(frame.branches)} href={`${frame.base}/branches`} />
            <Fact name="Tags" value={String(frame.tags)} href={`${frame.base}/tags`} />
            <Fact name="Size" value={`${formatSize(about.size)}, ${countOf(about.objects, 'object')}`} />
            {about.createdAt !== null && (
              <div>
                <dt>Created</dt>
                <dd>
                  <When time={about.createdAt} />
                </dd>
              </div>
            )}
            {about.forkOf !== null && <Fact name="Forked from" value={about.forkOf} />}
            {tree?.commit && (
              <div>
                <dt>Download</dt>
                <dd>
                  <a href={`${frame.base}/archive/${tree.commit.oid}.tar.gz`}>tar.gz</a>
                  {', '}
                  <a href={`${frame.base}/archive/${tree.commit.oid}.zip`}>zip</a>
                </dd>
              </div>
            )}
          </dl>
          {facts !== null && facts.contributors.length > 0 && <Contributors facts={facts} />}
        </aside>
      </div>
    </Layout>
  )
}

function Contributors({ facts }: { facts: Facts }) {
  const { contributors, contributorsTotal, commits, isWhole } = facts
  return (
    <section aria-label="Contributors">
      <h2>{countOf(contributorsTotal, 'contributor')}</h2>
      <ol class="contributors">
        {contributors.map(({ name, commits: count }) => (
          <li>
            <Name>{name}</Name> <span class="by">{countOf(count, 'commit')}</span>
          </li>
        ))}
      </ol>
      <p class="by">{`${isWhole ? 'Of' : 'Of the newest'} ${countOf(commits, 'commit')}, by mail address.`}</p>
    </section>
  )
}

function Fact({ name, value, href }: { name: string; value: string; href?: string }) {
  const shown = <Name>{value}</Name>
  return (
    <div>
      <dt>{name}</dt>
      <dd>{href === undefined ? shown : <a href={href}>{shown}</a>}</dd>
    </div>
  )
}

function Empty({ https, branch }: { https: string; branch: string }) {
  return (
    <section class="empty">
      <h2>Nothing is on {<Name>{branch}</Name>} yet</h2>
      <p>Push a history, and it is shown here:</p>
      <pre tabindex="0">{`git remote add origin ${https}\ngit push origin HEAD:${branch}`}</pre>
    </section>
  )
}

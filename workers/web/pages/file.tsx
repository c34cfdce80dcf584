import { decodeText } from '../../../git/object/text.ts'
import { countOf, formatSize } from '../format.ts'
import { commitHref, revisionHref, withQuery } from '../hrefs.ts'
import type { FileData } from '../load/file.ts'
import { MAX_LINES } from '../load/file.ts'
import { Breadcrumbs } from '../parts/breadcrumbs.tsx'
import { Code } from '../parts/code.tsx'
import { Layout } from '../parts/layout.tsx'
import { Name, When } from '../parts/name.tsx'
import { Prose } from '../parts/prose.tsx'
import { RefSwitcher } from '../parts/ref-switcher.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import type { Site } from '../site.ts'

export function FilePage(data: FileData, site: Site) {
  const { frame, place, choices, lastChange } = data
  const { name } = place.revision
  return (
    <Layout
      site={site}
      title={`${decodeText(place.path)} at ${name} · ${frame.actor}/${frame.name}`}
      canonical={revisionHref(frame.base, 'blob', name, place.path)}
    >
      <RepositoryHead frame={frame} tab="code" revision={name} />
      <Breadcrumbs frame={frame} revision={name} path={place.path} />
      <div class="bar">
        <RefSwitcher frame={frame} place={place} choices={choices} page="blob" />
        {lastChange && (
          <p class="newest">
            <a class="cut" href={commitHref(frame.base, lastChange.oid)}>
              <Name>{lastChange.subject}</Name>
            </a>
            <span class="by">
              <Name>{lastChange.author.name}</Name>, <When time={lastChange.committer.time} />
            </span>
          </p>
        )}
      </div>
      <section class="file" aria-label="The file">
        <FileBar data={data} />
        <Content data={data} />
      </section>
    </Layout>
  )
}

function FileBar({ data }: { data: FileData }) {
  const { frame, place, content, size, isExecutable, commit, asSource } = data
  const { name, exact } = place.revision
  const href = (page: 'raw' | 'blame' | 'commits') => revisionHref(frame.base, page, name, place.path)
  const isMarkdown = content.kind === 'text' && content.isMarkdown
  return (
    <div class="file-bar">
      <p class="by">
        {content.kind === 'text' && `${countOf(lineCount(content.text), 'line')}, `}
        {formatSize(size)}
        {isExecutable && ', executable'}
      </p>
      <ul class="actions">
        {isMarkdown && (
          <li>
            {asSource ? (
              <a href={revisionHref(frame.base, 'blob', name, place.path)}>Document</a>
            ) : (
              <a href={withQuery(revisionHref(frame.base, 'blob', name, place.path), { view: 'source' })}>Source</a>
            )}
          </li>
        )}
        <li>
          <a href={href('raw')}>Raw</a>
        </li>
        {commit !== null && content.kind === 'text' && (
          <li>
            <a href={href('blame')}>Blame</a>
          </li>
        )}
        {commit !== null && (
          <li>
            <a href={href('commits')}>History</a>
          </li>
        )}
        {commit !== null && !exact && (
          <li>
            <a href={revisionHref(frame.base, 'blob', commit, place.path)} data-permalink>
              Permalink
            </a>
          </li>
        )}
      </ul>
    </div>
  )
}

function Content({ data }: { data: FileData }) {
  const { frame, place, content, name, size, asSource } = data
  const raw = revisionHref(frame.base, 'raw', place.revision.name, place.path)
  switch (content.kind) {
    case 'text':
      if (content.isMarkdown && !asSource) {
        return <Prose frame={frame} place={place} path={place.path} text={content.text} kind="markdown" />
      }
      if (content.text === '') return <p class="note">The file is empty.</p>
      if (lineCount(content.text) > MAX_LINES) return <NotShown raw={raw} why={`has more than ${MAX_LINES} lines`} />
      return <Code name={name} text={content.text} />
    case 'image':
      return (
        <p class="picture">
          <img src={raw} alt={name} />
        </p>
      )
    case 'link':
      return (
        <p class="note">
          A symbolic link to <code>{<Name>{content.target}</Name>}</code>
        </p>
      )
    case 'binary':
      return <NotShown raw={raw} why="is binary" />
    case 'too-large':
      return <NotShown raw={raw} why={`is large: ${formatSize(size)}`} />
  }
}

function NotShown({ raw, why }: { raw: string; why: string }) {
  return (
    <p class="note">
      This file {why}. <a href={raw}>Download it</a>.
    </p>
  )
}

function lineCount(text: string): number {
  const breaks = text.split('\n').length - 1
  return text === '' || text.endsWith('\n') ? breaks : breaks + 1
}

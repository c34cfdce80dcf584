import { decodeText } from '../../../git/object/text.ts'
import { formatDay } from '../format.ts'
import { commitHref, revisionHref } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { BlameData, BlamedRange } from '../load/blame.ts'
import { Breadcrumbs } from '../parts/breadcrumbs.tsx'
import { Layout } from '../parts/layout.tsx'
import { RepositoryHead } from '../parts/repository-head.tsx'
import { highlightLines, languageOf } from '../render/highlight.ts'
import { escapeHtml, visibleName } from '../render/text.ts'
import type { Site } from '../site.ts'

export function BlamePage({ frame, place, name, text, ranges }: BlameData, site: Site) {
  const { name: revision } = place.revision
  const { lines } = highlightLines(text, languageOf(name, text.slice(0, text.indexOf('\n'))))
  const rows = ranges.map((range) => rangeRows(frame.base, range, lines)).join('')
  const isWhole = ranges.every(({ isKnown }) => isKnown)
  return (
    <Layout
      site={site}
      title={`Blame of ${decodeText(place.path)} at ${revision} · ${frame.actor}/${frame.name}`}
      canonical={revisionHref(frame.base, 'blame', revision, place.path)}
    >
      <RepositoryHead frame={frame} tab="code" revision={revision} />
      <Breadcrumbs frame={frame} revision={revision} path={place.path} />
      <section class="file" aria-label="Who wrote each line">
        <div class="file-bar">
          <p class="by">Who wrote each line</p>
          <ul class="actions">
            <li>
              <a href={revisionHref(frame.base, 'blob', revision, place.path)}>File</a>
            </li>
            <li>
              <a href={revisionHref(frame.base, 'commits', revision, place.path)}>History</a>
            </li>
          </ul>
        </div>
        {!isWhole && <p class="note">Lines with ≤ are as old as the commit beside them, or older.</p>}
        {text === '' ? (
          <p class="note">The file is empty.</p>
        ) : (
          <section class="scroll" tabindex="0" aria-label={`Content of ${name}`}>
            <table class="code blame" role="presentation">
              <tbody data-lines>{new Html(rows)}</tbody>
            </table>
          </section>
        )}
      </section>
    </Layout>
  )
}

const NO_ONE = '<td class="who"></td><td class="when"></td>'

function rangeRows(base: string, { start, end, commit, isKnown }: BlamedRange, lines: readonly string[]): string {
  const { oid, subject, author, committer } = commit
  const day = committer.time === null ? '' : formatDay(committer.time)
  const who =
    `${isKnown ? '' : '≤ '}<a href="${escapeHtml(commitHref(base, oid))}" title="${escapeHtml(visibleName(author.name))}">` +
    `<bdi>${escapeHtml(visibleName(subject || oid.slice(0, 8)))}</bdi></a>`
  return lines
    .slice(start, end)
    .map((line, i) => {
      const number = start + i + 1
      const blamed = i === 0 ? `<td class="who">${who}</td><td class="when">${day}</td>` : NO_ONE
      const first = i === 0 ? ' class="first"' : ''
      return `<tr id="L${number}"${first}>${blamed}<td class="n"><a href="#L${number}">${number}</a></td><td>${line}</td></tr>`
    })
    .join('')
}

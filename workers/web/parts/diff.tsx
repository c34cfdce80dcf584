import { decodeText } from '../../../git/object/text.ts'
import { countOf } from '../format.ts'
import { revisionHref, withQuery } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { DiffView } from '../load/commit.ts'
import type { ChangedFile, ChangeStatus, DiffBody, DiffPage, FileDiff } from '../load/diff.ts'
import { MAX_FILES } from '../load/diff.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import { splitRows, unifiedTable } from './diff-rows.ts'
import { Name } from './name.tsx'
import { Pager } from './pager.tsx'

interface Props {
  readonly frame: RepositoryFrame
  readonly diff: DiffPage
  readonly view: DiffView
  /** That links to files lead to. */
  readonly revision: string
  /** Path of the page. */
  readonly here: string
}

/** What differs, file by file. */
export function Diff({ frame, diff, view, revision, here }: Props) {
  const { total, hasMore, files, from, next, added, deleted } = diff
  if (total === 0) return <p class="note">No file differs.</p>
  const { isSplit } = view
  const href = (first: number, split: boolean) =>
    withQuery(here, { from: first === 0 ? undefined : first, view: split ? 'split' : undefined })
  const isWhole = from === 0 && next === null
  return (
    <section aria-label="Changes">
      <div class="diff-sum">
        <h2>{hasMore ? `More than ${MAX_FILES} files differ` : countOf(total, 'file differs', 'files differ')}</h2>
        <p class="by">
          {!isWhole && `Shown are ${from + 1} to ${from + files.length}: `}
          <span class="plus">+{added}</span> <span class="minus">−{deleted}</span>
        </p>
        <p class="by view">
          <a href={href(from, !isSplit)}>{isSplit ? 'One column' : 'Side by side'}</a>
        </p>
      </div>
      {files.length > 1 && <Overview files={files} />}
      {files.map((file, i) => (
        <File frame={frame} file={file} id={`file-${from + i + 1}`} revision={revision} isSplit={isSplit} />
      ))}
      <Pager
        previous={from > 0 ? href(0, isSplit) : null}
        next={next === null ? null : href(next, isSplit)}
        previousLabel="First files"
        nextLabel="More files"
      />
    </section>
  )
}

function Overview({ files }: { files: readonly FileDiff[] }) {
  return (
    <details class="overview">
      <summary>Files on this page</summary>
      <ul>
        {files.map((file) => (
          <li>
            <Status status={file.status} /> <Name>{decodeText(file.path)}</Name> <Counts file={file} />
          </li>
        ))}
      </ul>
    </details>
  )
}

const LETTERS: Readonly<Record<ChangeStatus, string>> = { added: 'A', deleted: 'D', modified: 'M', renamed: 'R' }

function Status({ status }: { status: ChangeStatus }) {
  return (
    <abbr class={`status ${status}`} title={status}>
      {LETTERS[status]}
    </abbr>
  )
}

function Counts({ file: { added, deleted } }: { file: FileDiff }) {
  return (
    <span class="counts">
      {added > 0 && <span class="plus">+{added}</span>} {deleted > 0 && <span class="minus">−{deleted}</span>}
    </span>
  )
}

interface FileProps {
  readonly frame: RepositoryFrame
  readonly file: FileDiff
  readonly id: string
  readonly revision: string
  readonly isSplit: boolean
}

function File({ frame, file, id, revision, isSplit }: FileProps) {
  const path = decodeText(file.path)
  const name = <Name>{path}</Name>
  return (
    <details class="file-diff" id={id} open>
      <summary>
        <Status status={file.status} />
        <h3>
          {file.oldPath !== null && (
            <>
              <Name>{decodeText(file.oldPath)}</Name> →{' '}
            </>
          )}
          {name}
        </h3>
        {file.modeChange !== null && <span class="by">{file.modeChange}</span>}
        <Counts file={file} />
      </summary>
      {file.new !== null && (
        <p class="file-links">
          <a href={revisionHref(frame.base, 'blob', revision, file.path)} rel="nofollow">
            View the file<span class="hidden"> {path}</span>
          </a>
        </p>
      )}
      <Body body={file.body} file={file} path={path} isSplit={isSplit} />
    </details>
  )
}

const WORDS: Readonly<Record<Exclude<DiffBody['kind'], 'sections' | 'patch'>, string>> = {
  binary: 'A binary file: its content is not compared.',
  'too-large': 'Too much differs to be shown here.',
  same: 'The content is the same.',
}

function Body({ body, file, path, isSplit }: { body: DiffBody; file: ChangedFile; path: string; isSplit: boolean }) {
  if (body.kind === 'patch') return <pre>{body.text}</pre>
  if (body.kind !== 'sections') return <p class="note">{WORDS[body.kind]}</p>
  if (body.sections.length === 0) {
    return <p class="note">{file.old === null ? 'An empty file.' : 'The content is the same.'}</p>
  }
  const rows = isSplit ? splitRows(body.sections) : unifiedTable(body.sections)
  return (
    <section class="scroll" tabindex="0" aria-label={`Changes of ${path}`}>
      <table class={isSplit ? 'code diff split' : 'code diff'} role="presentation">
        {isSplit && (
          <colgroup>
            <col class="n" />
            <col />
            <col class="n" />
            <col />
          </colgroup>
        )}
        <tbody>{new Html(rows)}</tbody>
      </table>
    </section>
  )
}

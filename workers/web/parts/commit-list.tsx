import { formatDay } from '../format.ts'
import { commitHref, revisionHref } from '../hrefs.ts'
import { Html } from '../jsx/html.ts'
import type { CommitInfo } from '../load/commit-info.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import { messageHtml } from '../render/text.ts'
import { CommitId, Name } from './name.tsx'

/** Commits by the day on which they were made. */
export function CommitList({
  frame,
  commits,
}: {
  readonly frame: RepositoryFrame
  readonly commits: readonly CommitInfo[]
}) {
  return (
    <>
      {byDay(commits).map(({ day, commits }) => (
        <section class="day">
          <h2>{day}</h2>
          <ol class="commits">
            {commits.map((commit) => (
              <li>
                <Commit frame={frame} commit={commit} />
              </li>
            ))}
          </ol>
        </section>
      ))}
    </>
  )
}

function Commit({ frame, commit }: { frame: RepositoryFrame; commit: CommitInfo }) {
  const { oid, subject, body, author, parents } = commit
  return (
    <>
      <div class="commit-text">
        <a class="subject" href={commitHref(frame.base, oid)}>
          <Name>{subject || '(no message)'}</Name>
        </a>
        <p class="by">
          <Name>{author.name}</Name>
          {parents.length > 1 && <span class="badge">merge</span>}
        </p>
        {body !== '' && (
          <details class="body">
            <summary>More of the message</summary>
            <pre>{new Html(messageHtml(body))}</pre>
          </details>
        )}
      </div>
      <div class="commit-links">
        <CommitId base={frame.base} oid={oid} />
        <a href={revisionHref(frame.base, 'tree', oid)} rel="nofollow">
          Files<span class="hidden"> at {oid.slice(0, 8)}</span>
        </a>
      </div>
    </>
  )
}

function byDay(commits: readonly CommitInfo[]): { day: string; commits: CommitInfo[] }[] {
  const days: { day: string; commits: CommitInfo[] }[] = []
  for (const commit of commits) {
    const { time } = commit.committer
    const day = time === null ? 'Without a date' : formatDay(time)
    if (days.at(-1)?.day === day) days.at(-1)!.commits.push(commit)
    else days.push({ day, commits: [commit] })
  }
  return days
}

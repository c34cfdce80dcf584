import { formatDay, formatTime } from '../format.ts'
import { commitHref } from '../hrefs.ts'
import { visibleName } from '../render/text.ts'

/** A name that a stranger has chosen: nothing in it is unseen, and it does not reorder what stands beside it. */
export function Name({ children }: { readonly children: string }) {
  return <bdi>{visibleName(children)}</bdi>
}

/** A day; the time of day is its title. */
export function When({ time }: { readonly time: number | null }) {
  if (time === null) return <span>at an unknown time</span>
  return (
    <time datetime={new Date(time).toISOString()} title={formatTime(time)}>
      {formatDay(time)}
    </time>
  )
}

/** An abbreviated id that leads to its commit. */
export function CommitId({ base, oid }: { readonly base: string; readonly oid: string }) {
  return (
    <a class="oid" href={commitHref(base, oid)} title={oid}>
      {oid.slice(0, 8)}
    </a>
  )
}

import { Html } from '../jsx/html.ts'

interface Props {
  /** Of the page before; null: there is none. */
  readonly previous?: string | null
  readonly next?: string | null
  readonly previousLabel?: string
  readonly nextLabel?: string
  /** As `Page 2 of 5`. */
  readonly here?: string
}

const NOTHING = new Html('')

/** Ways to the pages beside. */
export function Pager({ previous, next, previousLabel = 'Previous', nextLabel = 'Next', here }: Props) {
  if (!previous && !next) return NOTHING
  return (
    <nav class="pager" aria-label="Pages">
      {previous ? (
        <a class="button" rel="prev" href={previous}>
          ← {previousLabel}
        </a>
      ) : (
        <span />
      )}
      {here && <span class="by">{here}</span>}
      {next ? (
        <a class="button" rel="next" href={next}>
          {nextLabel} →
        </a>
      ) : (
        <span />
      )}
    </nav>
  )
}

import type { LanguageShare } from '../render/languages.ts'

/** Units of the drawing, of which the bar is so wide. */
const WIDTH = 1000
const HEIGHT = 10

/** What a repository is written in: a bar for those who see its colours, and the same in words. */
export function Languages({ languages }: { readonly languages: readonly LanguageShare[] }) {
  let at = 0
  const parts = languages.map(({ id, share }) => {
    const x = at
    at += share * WIDTH
    return (
      <rect
        class={classOf(id)}
        x={x.toFixed(1)}
        y={0}
        width={Math.max(share * WIDTH - 2, 1).toFixed(1)}
        height={HEIGHT}
      />
    )
  })
  return (
    <section class="languages" aria-label="Languages">
      <h2>Languages</h2>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {parts}
      </svg>
      <ul>
        {languages.map(({ id, name, share }) => (
          <li>
            <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
              <circle class={classOf(id)} cx={5} cy={5} r={5} />
            </svg>
            {name} <span class="by">{percent(share)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function classOf(id: string | null): string {
  return id === null ? 'language' : `language language-color-${id}`
}

function percent(share: number): string {
  return share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(1)} %`
}

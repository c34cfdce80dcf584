import { Html } from '../jsx/html.ts'
import { highlightLines, languageOf } from '../render/highlight.ts'

interface Props {
  readonly name: string
  readonly text: string
}

/** A text with its lines numbered: each number is an anchor, `#L10`, and scripts make ranges of them. */
export function Code({ name, text }: Props) {
  const end = text.indexOf('\n')
  const { lines, plainBecause } = highlightLines(text, languageOf(name, end === -1 ? text : text.slice(0, end)))
  const rows = lines.map(
    (line, i) => `<tr id="L${i + 1}"><td class="n"><a href="#L${i + 1}">${i + 1}</a></td><td>${line}</td></tr>`,
  )
  return (
    <>
      {plainBecause !== null && <p class="note">Shown without colours: {plainBecause}.</p>}
      <section class="scroll" tabindex="0" aria-label={`Content of ${name}`}>
        <table class="code" role="presentation">
          <tbody data-lines>{new Html(rows.join(''))}</tbody>
        </table>
      </section>
    </>
  )
}

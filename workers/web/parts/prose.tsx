import { splitPath } from '../../../git/object/path.ts'
import { decodeText } from '../../../git/object/text.ts'
import { Html } from '../jsx/html.ts'
import type { RepositoryFrame, ShownPlace } from '../load/frame.ts'
import { renderMarkdown } from '../render/markdown.ts'
import { placeIn } from '../render/place.ts'
import type { ProseKind } from '../render/readme.ts'
import { visibleText } from '../render/text.ts'

interface Props {
  readonly frame: RepositoryFrame
  readonly place: ShownPlace
  /** Of the document, from the root. */
  readonly path: Uint8Array
  readonly text: string
  readonly kind: ProseKind
}

/** A document: Markdown is drawn, its relative links and images lead to the same revision; all else stands as it is. */
export function Prose({ frame, place, path, text, kind }: Props) {
  if (kind === 'text') return <pre class="plain">{visibleText(text)}</pre>
  const directory = splitPath(path)
    .slice(0, -1)
    .map((name) => decodeText(name))
    .join('/')
  const html = renderMarkdown(text, placeIn({ repository: frame.base, revision: place.revision.name, directory }))
  return <div class="prose">{new Html(html)}</div>
}

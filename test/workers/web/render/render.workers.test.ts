import { expect, test } from 'vitest'
import { diffSections, unifiedRows } from '../../../../workers/web/render/diff-html.ts'
import { highlightLines } from '../../../../workers/web/render/highlight.ts'
import { LANGUAGES } from '../../../../workers/web/render/language-table.ts'
import { renderMarkdown } from '../../../../workers/web/render/markdown.ts'
import { placeIn } from '../../../../workers/web/render/place.ts'

test('Markdown, all grammars and diffs are drawn in workerd', () => {
  const place = placeIn({ repository: '/a/b', revision: 'main', directory: '' })
  expect(renderMarkdown('# A\n\n```js\nlet a\n```\n\n![x](y.png) <script>z</script>[^1]\n\n[^1]: n', place)).toContain(
    '<span class="hljs-keyword">let</span> a',
  )
  for (const { id, grammar } of LANGUAGES) {
    expect(highlightLines('a = "b" // c\n', id)).toMatchObject({
      language: grammar === null ? null : id,
      plainBecause: null,
    })
  }
  const encoder = new TextEncoder()
  const [section] = diffSections(encoder.encode('let a = 1\n'), encoder.encode('let a = 2\n'), 'javascript')
  expect(unifiedRows(section!).at(-1)!.html).toContain('<mark>2</mark>')
})

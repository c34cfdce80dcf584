import { expect, test } from 'vitest'
import { diffSections, unifiedRows } from '../../../../workers/web/render/diff-html.ts'
import { highlightLines } from '../../../../workers/web/render/highlight.ts'
import { renderMarkdown } from '../../../../workers/web/render/markdown.ts'
import { placeIn } from '../../../../workers/web/render/place.ts'
import { escapeHtml, messageHtml, visibleName } from '../../../../workers/web/render/text.ts'
import { HOSTILE } from './hostile-inputs.ts'
import { faultsOf } from './safe-html.ts'

const IMAGES = '/alice.example/app/raw/main/'
const place = placeIn({ repository: '/alice.example/app', revision: 'main', directory: 'docs' })
const inputs = Object.values(HOSTILE).flat()

/** Around an input: what it may break out of. */
const AROUND: readonly ((input: string) => string)[] = [
  (input) => input,
  (input) => `text ${input} text`,
  (input) => `> ${input}`,
  (input) => `- [x] ${input}`,
  (input) => `<details><summary>\n\n${input}\n\n</summary></details>`,
  (input) => `| ${input.replaceAll('\n', ' ')} | b |\n|---|---|\n| a | ${input.replaceAll('\n', ' ')} |`,
  (input) => `[![${input}](a.png)](b "${input}")`,
  (input) => `<p align="center" title="${input}">${input}`,
]

test.each(Object.entries(HOSTILE))('%s in Markdown do nothing', (_, kind) => {
  for (const around of AROUND) {
    for (const input of kind) {
      const html = renderMarkdown(around(input), place)
      expect(faultsOf(html, IMAGES), `${around(input)}\n=> ${html}`).toEqual([])
    }
  }
})

test('what is harmless beside it stays', () => {
  expect(renderMarkdown('a <script>alert(1)</script> **b** <b onclick=alert(1)>c</b>', place)).toBe(
    '<p>a  <strong>b</strong> <b>c</b></p>\n',
  )
})

test('names and messages show what they hold, and nothing else happens', () => {
  for (const input of inputs) {
    const name = escapeHtml(visibleName(input))
    expect(faultsOf(`<a title="${name}">${name}</a>`, IMAGES), name).toEqual([])
    expect(faultsOf(messageHtml(input), IMAGES), messageHtml(input)).toEqual([])
  }
})

/** Languages that hold others, and some that hold none. */
const EMBEDDING = 'html javascript typescript markdown php handlebars jinja twig python ruby bash yaml c latex'.split(
  ' ',
)

test('files, and what changes in them, are text', () => {
  const encoder = new TextEncoder()
  const text = inputs.join('\n')
  const other = inputs.map((input) => input.replace('alert', 'prompt')).join('\n')
  for (const language of [null, ...EMBEDDING]) {
    const { lines } = highlightLines(text, language)
    expect(lines.flatMap((line) => faultsOf(line, IMAGES))).toEqual([])
  }
  for (const language of [null, 'javascript', 'html']) {
    const rows = diffSections(encoder.encode(text), encoder.encode(other), language).flatMap(unifiedRows)
    expect(rows.flatMap(({ html }) => faultsOf(html, IMAGES))).toEqual([])
  }
})

test('there are enough of them', () => {
  expect(inputs.length).toBeGreaterThan(150)
  expect(new Set(inputs).size).toBe(inputs.length)
})

import { expect, test } from 'vitest'
import { MARKDOWN_LIMITS, renderMarkdown } from '../../../../workers/web/render/markdown.ts'
import { type Place, placeIn } from '../../../../workers/web/render/place.ts'

const place = placeIn({ repository: '/alice.example/app', revision: 'feature/1', directory: 'docs/en' })
const draw = (source: string) => renderMarkdown(source, place).trim()

test.each([
  ['strike-through', '~~a~~', '<p><s>a</s></p>'],
  [
    'bare addresses',
    'https://example.com/x and README.md',
    '<p><a href="https://example.com/x" rel="nofollow noopener ugc">https://example.com/x</a> and README.md</p>',
  ],
  [
    'tables',
    '|a|b|\n|:-:|-|\n|1|2|',
    '<table>\n<thead>\n<tr>\n<th align="center">a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align="center">1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>',
  ],
  [
    'task lists',
    '- [x] a\n- b',
    '<ul class="contains-task-list">\n<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled aria-label="done" checked /> a</li>\n<li>b</li>\n</ul>',
  ],
  [
    'alerts',
    '> [!WARNING]\n> a',
    '<div class="markdown-alert markdown-alert-warning">\n<p class="markdown-alert-title">Warning</p><p>a</p>\n</div>',
  ],
  ['quotations that are none', '> [!WARNING] a', '<blockquote>\n<p>[!WARNING] a</p>\n</blockquote>'],
  [
    'quotations in alerts',
    '> [!NOTE]\n> > a',
    '<div class="markdown-alert markdown-alert-note">\n<p class="markdown-alert-title">Note</p><blockquote>\n<p>a</p>\n</blockquote>\n</div>',
  ],
  [
    'code',
    '```js\nlet a\n```',
    '<pre><code class="language-javascript"><span class="hljs-keyword">let</span> a\n</code></pre>',
  ],
  ['code of no language', '```nosuch\n<a>\n```', '<pre><code>&lt;a&gt;\n</code></pre>'],
  [
    'front matter',
    '---\ntitle: a\n---\nb',
    '<pre><code class="language-yaml"><span class="hljs-attr">title:</span> <span class="hljs-string">a</span>\n</code></pre>\n<p>b</p>',
  ],
  ['a rule at the start', '---\n\na', '<hr />\n<p>a</p>'],
  [
    'harmless HTML',
    '<details open><summary>a</summary><kbd>b</kbd></details>',
    '<details open><summary>a</summary><kbd>b</kbd></details>',
  ],
  [
    'aligned HTML',
    '<p align="center"><img src="/a b.png" width="50%"></p>',
    '<p align="center"><img width="50%" src="/alice.example/app/raw/feature/1/a%20b.png" alt="" loading="lazy" /></p>',
  ],
  ['unseen characters in code', '`a\u202eb`', '<p><code>a⟨U+202E⟩b</code></p>'],
])('%s', (_, source, html) => {
  expect(draw(source)).toBe(html)
})

test('headings can be linked to, each by its own id, and links to them lead there', () => {
  const html = draw('# A `b` c!\n# A b c\n[to](#a-b-c-1)\n# Über 日本')
  expect(html).toContain('<h1 id="user-content-a-b-c">')
  expect(html).toContain('<h1 id="user-content-a-b-c-1">')
  expect(html).toContain('<a href="#user-content-a-b-c-1">to</a>')
  expect(html).toContain('<h1 id="user-content-über-日本">')
  expect(html).toContain('<a class="anchor" href="#user-content-a-b-c" aria-label="Link to this section: A b c!">#</a>')
})

test('notes and their references lead to each other', () => {
  const html = draw('a[^x] b[^x]\n\n[^x]: note')
  for (const part of [
    'href="#user-content-fn1"',
    'id="user-content-fn1"',
    'href="#user-content-fnref1"',
    'id="user-content-fnref1"',
  ]) {
    expect(html).toContain(part)
  }
  expect(html).not.toContain('[^x]')
})

test.each([
  ['a.c', '/alice.example/app/blob/feature/1/docs/en/a.c'],
  ['./a.c#L3', '/alice.example/app/blob/feature/1/docs/en/a.c#L3'],
  ['../b%20c.md?plain=1#use', '/alice.example/app/blob/feature/1/docs/b%20c.md#user-content-use'],
  ['/d/e%23f', '/alice.example/app/blob/feature/1/d/e%23f'],
  ['../../', '/alice.example/app/tree/feature/1'],
  ['sub/', '/alice.example/app/tree/feature/1/docs/en/sub'],
  ['../../../x', null],
  ['%2e%2e/%2e%2e/%2e%2e/x', null],
  ['a%2fb', null],
  ['a%00b', null],
  ['%zz', null],
])('where a link leads: %s', (href, address) => {
  expect(place.link(href)).toBe(address)
})

test('images of others are links, as text where they are in a link', () => {
  expect(place.image('https://example.com/a.png')).toBeNull()
  expect(draw('![a](https://example.com/b.png)')).toBe(
    '<p><a class="image" href="https://example.com/b.png" rel="nofollow noopener ugc">a</a></p>',
  )
  expect(draw('[![a](https://example.com/b.png)](c)')).toBe(
    '<p><a href="/alice.example/app/blob/feature/1/docs/en/c" rel="nofollow noopener ugc"><span>a</span></a></p>',
  )
  expect(draw('![](https://example.com/b.png?x)')).toContain('>b.png</a>')
})

test('a place may allow them, and may not lead elsewhere than it seems to', () => {
  const all: Place = { link: (href) => href, image: (src) => src }
  expect(renderMarkdown('![a](https://example.com/b.png)', all)).toContain('src="https://example.com/b.png"')
  const elsewhere: Place = { link: () => 'javascript:alert(1)', image: () => '/\t/evil.example/x' }
  expect(renderMarkdown('[a](b) ![c](d)', elsewhere)).toBe('<p><span>a</span> <span>c</span></p>\n')
})

test('beyond a limit a document is shown as it is written, and that is said', () => {
  const said = (source: string) => /Shown as it is written: (.*?)\.<\/p><pre>/.exec(draw(source))?.[1]
  expect(said('a'.repeat(MARKDOWN_LIMITS.length + 1))).toBe('it has more than 524288 characters')
  expect(said('<b>'.repeat(201))).toBe('it has more than 200 elements inside each other')
  expect(said('<b>'.repeat(100_000))).toBeDefined()
  expect(draw(`${'<b>'.repeat(300)}<script>`)).toContain('&lt;script&gt;')
  expect(draw('a[^1]\n\n[^1]: b\n\n'.repeat(501))).not.toContain('footnotes')
})

test.each([
  '[',
  '![',
  '](',
  '[a](',
  '*a ',
  '**',
  '_a',
  '`',
  '``a',
  '<',
  '<a ',
  '<!--',
  '&',
  '~~',
  '> ',
  '- ',
  '1. ',
  '# a\n',
  '- [ ] a\n',
  '|',
  '|a\n',
  '\\',
  'http://',
  'a@',
  '[^1]',
  '[^1]: a\n',
  '[a]: b\n',
  '<b>',
  '</b>',
  '<a href=x>',
  '<p>',
  ':',
  '    a\n',
  '```\n',
  '> [!NOTE]\n',
])('the HTML of a document grows with it: %j', (part) => {
  const size = (count: number) => draw(part.repeat(count)).length
  expect(size(2_000)).toBeLessThanOrEqual(2.2 * size(1_000) + 1_000)
})

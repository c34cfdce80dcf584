import { expect, test } from 'vitest'
import { findReadme, proseKind } from '../../../../workers/web/render/readme.ts'
import { escapeHtml, messageHtml, visibleName, visibleText } from '../../../../workers/web/render/text.ts'

test.each([
  ['invoice\u202efdp.exe', 'invoice⟨U+202E⟩fdp.exe'],
  ['a\nb\tc\rd', 'a␊b␉c␍d'],
  ['\u0000\u001b[31m\u007f\u0085', '␀␛[31m␡⟨U+0085⟩'],
  ['zero\u200bwidth\ufeff\u00ad', 'zero⟨U+200B⟩width⟨U+FEFF⟩⟨U+00AD⟩'],
  ['blank\u3164\u115f', 'blank⟨U+3164⟩⟨U+115F⟩'],
  ['half \ud83d', 'half ⟨U+D83D⟩'],
  ['tag\u{e0041}', 'tag⟨U+E0041⟩'],
])('a name with characters that are not seen: %j', (name, shown) => {
  expect(visibleName(name)).toBe(shown)
})

test.each(['plain.txt', '日本語', 'עברית', 'naïve café', 'मराठी क्‍ष', '👩‍👩‍👧 family', '❤️'])(
  'a name that is seen whole stays: %s',
  (name) => {
    expect(visibleName(name)).toBe(name)
  },
)

test('a text keeps its lines and tabs', () => {
  expect(visibleText('a\r\n\tb\rc')).toBe('a\n\tb␍c')
})

test('what HTML would read is escaped', () => {
  expect(escapeHtml(`<a href="x" title='&'>`)).toBe('&lt;a href=&quot;x&quot; title=&#39;&amp;&#39;&gt;')
})

const link = (url: string) => `<a href="${url}" rel="nofollow noopener ugc">${url}</a>`

test.each([
  ['See https://example.com/a.', `See ${link('https://example.com/a')}.`],
  ['(https://example.com/a_(b))', `(${link('https://example.com/a_(b)')})`],
  ['<https://example.com/?a=1&b=2>', `&lt;${link('https://example.com/?a=1&amp;b=2')}&gt;`],
  ['HTTPS://EXAMPLE.com!', `${link('HTTPS://EXAMPLE.com')}!`],
  ['no ftp://x, javascript:x or xhttps://y', 'no ftp://x, javascript:x or xhttps://y'],
  ['https://[ and https://', 'https://[ and https://'],
  ['two\nlines & <b>', 'two\nlines &amp; &lt;b&gt;'],
])('a message: %j', (message, html) => {
  expect(messageHtml(message)).toBe(html)
})

test('which file is the README', () => {
  expect(findReadme(['src.md', 'readme.txt', 'README.rst', 'README.md', 'README'])).toEqual({
    name: 'README.md',
    kind: 'markdown',
  })
  expect(findReadme(['README', 'readme.org'])).toEqual({ name: 'readme.org', kind: 'text' })
  expect(findReadme(['README.md', 'readme.md'])?.name).toBe('README.md')
  expect(findReadme(['README.exe', 'readme.md.bak', 'notreadme.md'])).toBeNull()
  expect([proseKind('a/B.MarkDown'), proseKind('a.rst')]).toEqual(['markdown', 'text'])
})

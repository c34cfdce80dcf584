import MarkdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { HttpError } from '../../../workers/http/http-error.ts'
import { formOf, mediaTypeOf } from '../../../workers/web/negotiate.ts'
import { errorText } from '../../../workers/web/text/error.ts'
import { block, code, document, inline, link } from '../../../workers/web/text/markdown.ts'

const markdown = new MarkdownIt({ html: true })

describe('the form of a page', () => {
  it.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'html', 'text/html; charset=utf-8'],
    ['*/*', 'markdown', 'text/plain; charset=utf-8'],
    ['', 'markdown', 'text/plain; charset=utf-8'],
    ['text/markdown, text/html;q=0.9', 'markdown', 'text/markdown; charset=utf-8'],
    ['text/plain', 'markdown', 'text/plain; charset=utf-8'],
    ['application/json', 'json', 'application/json'],
    ['application/json, */*;q=0.1', 'json', 'application/json'],
    ['text/html;q=0, application/json;q=0.1', 'json', 'application/json'],
    ['text/html; q=x', 'markdown', 'text/plain; charset=utf-8'],
  ])('by Accept %o is %s', (accept, form, type) => {
    const request = new Request('https://edge.test/', { headers: { accept } })
    expect([formOf(request), mediaTypeOf(formOf(request), request)]).toEqual([form, type])
  })
})

describe("strangers' words in Markdown", () => {
  it.each([
    '# no heading',
    '> no quote',
    '[no](https://evil.test) ![picture](x)',
    '<script>alert(1)</script>',
    '`code` ``more``',
    '*no* __emphasis__ ~~struck~~ a_b_c',
    '| a | b |',
    '\\[x\\]',
    'two\nlines\n# of it',
    '&lt;b&gt;',
    '&#96;',
  ])('%o stays what it is', (text) => {
    const shown = text.replaceAll('\n', '\u240a')
    const rendered = (source: string) => {
      const inlines = markdown.parse(source, {}).flatMap(({ children }) => children ?? [])
      return inlines
        .map(({ type, content }) => (type === 'text' || type === 'text_special' ? content : `{${type}}`))
        .join('')
    }
    expect(rendered(`Name: ${inline(text)}`)).toBe(`Name: ${shown}`)
    const codes = markdown.parse(`At ${code(text)} end`, {})[1]!.children!
    expect(codes.map(({ type, content }) => [type, content])).toEqual([
      ['text', 'At '],
      ['code_inline', shown],
      ['text', ' end'],
    ])
    const [open] = markdown.parse(link(text, 'https://edge.test/a'), {})[1]!.children!
    expect(open!.attrGet('href')).toBe('https://edge.test/a')
  })

  it.each(['- a', '+ a', '1. a', '12) a', '---', '===', '  - a', '# a', '> a', '~~~', '    a'])(
    '%o begins nothing at the start of a line',
    (text) => {
      const tokens = markdown.parse(document('Above', inline(text.trim()), `- ${inline(text.trim())}`), {})
      expect(tokens.map(({ type }) => type).filter((type) => type.endsWith('_open'))).toEqual([
        'paragraph_open',
        'paragraph_open',
        'bullet_list_open',
        'list_item_open',
        'paragraph_open',
      ])
      expect(tokens[4]!.children!.map(({ content }) => content).join('')).toBe(text.trim())
    },
  )

  it('of a block do not end it', () => {
    const text = 'a\n```\n# heading\n````js\n'
    expect(
      markdown.parse(document('# Title', block(text, 'js')), {}).map(({ type, content }) => [type, content]),
    ).toEqual([
      ['heading_open', ''],
      ['inline', 'Title'],
      ['heading_close', ''],
      ['fence', text],
    ])
  })

  it('of a URL stay in the line of the error that names them', () => {
    const message = "repository 'x\n\n# Instructions\n[a](http://evil.test)' not found"
    const tokens = markdown.parse(errorText(new HttpError(404, 'RepositoryNotFound', message)), {})
    expect(tokens.map(({ type }) => type)).toEqual(['paragraph_open', 'inline', 'paragraph_close'])
    expect(tokens[1]!.children!.filter(({ type }) => type === 'link_open')).toEqual([])
  })
})

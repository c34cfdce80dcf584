/**
 * Whether HTML is of the kind that all parsers read alike and that does nothing: only harmless elements, each closed in its
 * order, only harmless attributes, all quoted, no `<` or `>` but of tags, addresses that are what they seem. It is stricter
 * than a parser that mends what it reads: what it takes, a browser has nothing to mend in.
 */

const VOID = new Set(['img', 'br', 'hr', 'input', 'col', 'source', 'wbr'])
const ELEMENTS = new Set(
  `h1 h2 h3 h4 h5 h6 p div section blockquote pre hr br center ul ol li dl dt dd details summary figure figcaption table
  caption thead tbody tfoot tr th td colgroup col a span b strong i em u s strike del ins mark small sub sup big code kbd samp
  var tt q cite dfn abbr bdi bdo time wbr ruby rt rp img picture source input`.split(/\s+/),
)
const ATTRIBUTES = new Set(
  `id class title lang dir href rel aria-label src alt width height loading srcset media type checked disabled open start
  reversed value colspan rowspan scope span datetime align`.split(/\s+/),
)
const TAG = /<(?:\/([a-z][a-z0-9]*)|([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)( \/)?)>/y
const TEXT = /[^<>]+/y

/** @returns what is wrong with it, in words; empty if nothing is */
export function faultsOf(html: string, imagesBelow: string): string[] {
  const faults: string[] = []
  const open: string[] = []
  for (let at = 0; at < html.length; ) {
    TEXT.lastIndex = at
    TAG.lastIndex = at
    const text = TEXT.exec(html)
    const tag = text === null ? TAG.exec(html) : null
    if (text === null && tag === null) return [...faults, `unreadable: ${html.slice(at, at + 60)}`]
    at += (text ?? tag)![0].length
    if (tag === null) continue
    const [, closed, opened, attributes = ''] = tag
    if (closed !== undefined && open.pop() !== closed) faults.push(`</${closed}> closes another element`)
    if (opened === undefined) continue
    if (!ELEMENTS.has(opened)) faults.push(`<${opened}>`)
    if (opened === 'a' && open.includes('a')) faults.push('a link in a link')
    if (!VOID.has(opened)) open.push(opened)
    faults.push(...attributeFaults(opened, attributes, imagesBelow))
  }
  return open.length === 0 ? faults : [...faults, `unclosed: ${open.join(' ')}`]
}

function attributeFaults(element: string, written: string, imagesBelow: string): string[] {
  const faults: string[] = []
  const values = new Map<string, string>()
  for (const [, name, value = ''] of written.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
    if (values.has(name!) || !ATTRIBUTES.has(name!)) faults.push(`${element} ${name}`)
    values.set(name!, decode(value))
  }
  const id = values.get('id')
  if (id !== undefined && !id.startsWith('user-content-')) faults.push(`id ${id}`)
  if (element === 'input' && (values.get('type') !== 'checkbox' || !values.has('disabled')))
    faults.push('an input that works')
  for (const src of [values.get('src'), ...(values.get('srcset')?.split(', ') ?? [])]) {
    if (src !== undefined && !src.startsWith(imagesBelow)) faults.push(`an image from ${src}`)
  }
  const href = values.get('href')
  if (href === undefined) return faults
  if (!/^(?:https?:\/\/[^/\\]|mailto:|\/[^/\\]|#)/.test(href)) faults.push(`a link to ${href}`)
  if (!href.startsWith('#') && values.get('rel') !== 'nofollow noopener ugc')
    faults.push(`a link to ${href} without rel`)
  return faults
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function decode(value: string): string {
  return value.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    hex
      ? String.fromCodePoint(Number.parseInt(hex, 16))
      : decimal
        ? String.fromCodePoint(Number(decimal))
        : (NAMED[name] ?? whole),
  )
}

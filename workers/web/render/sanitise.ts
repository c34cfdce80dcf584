import sanitizeHtml from 'sanitize-html'
import { isWhole, type Place, prefixedId } from './place.ts'
import { STRANGERS_LINK, visibleText } from './text.ts'

/** Elements inside elements beyond a limit. */
export class NestingError extends Error {
  override readonly name = 'NestingError'
}

type Attributes = Record<string, string>
type Transform = (tagName: string, attribs: Attributes) => { tagName: string; attribs: Attributes; text?: string }

const TAGS = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'section', 'blockquote', 'pre', 'hr', 'br', 'center'],
  ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'details', 'summary', 'figure', 'figcaption'],
  ...['table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'colgroup', 'col'],
  ...['a', 'span', 'b', 'strong', 'i', 'em', 'u', 's', 'strike', 'del', 'ins', 'mark', 'small', 'sub', 'sup', 'big'],
  ...['code', 'kbd', 'samp', 'var', 'tt', 'q', 'cite', 'dfn', 'abbr', 'bdi', 'bdo', 'time', 'wbr', 'ruby', 'rt', 'rp'],
  ...['img', 'picture', 'source', 'input'],
]

const ALIGNED = [
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'p',
  'div',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'img',
  'col',
]

const ALLOWED_ATTRIBUTES: Readonly<Record<string, string[]>> = {
  '*': ['id', 'title', 'lang', 'dir'],
  a: ['href', 'rel', 'aria-label'],
  img: ['src', 'alt', 'width', 'height', 'loading'],
  source: ['srcset', 'media'],
  input: ['type', 'checked', 'disabled', 'aria-label'],
  details: ['open'],
  ol: ['start', 'reversed', 'type'],
  li: ['value'],
  th: ['colspan', 'rowspan', 'scope', 'width'],
  td: ['colspan', 'rowspan', 'width'],
  col: ['span', 'width'],
  time: ['datetime'],
}

/** Those that Markdown itself is drawn with: a document may use them too, but no others of the page. */
const ALLOWED_CLASSES: Record<string, (string | RegExp)[]> = {
  div: [/^markdown-alert(?:-(?:note|tip|important|warning|caution))?$/],
  p: ['markdown-alert-title'],
  section: ['footnotes'],
  ol: ['footnotes-list', 'contains-task-list'],
  ul: ['contains-task-list'],
  li: ['task-list-item', 'footnote-item'],
  sup: ['footnote-ref'],
  hr: ['footnotes-sep'],
  a: ['anchor', 'footnote-backref', 'image'],
  code: [/^language-[a-z0-9-]+$/],
  // `hljs-title function_`: a scope and its parts.
  span: [/^hljs-[a-z0-9-]+$/, /^[a-z]+_+$/, /^language-[a-z0-9-]+$/],
  input: ['task-list-item-checkbox'],
}

/** Texts that are read as they are written, where an unseen character matters. */
const LITERAL = new Set(['code', 'pre', 'kbd', 'samp', 'tt'])

/**
 * Makes a stranger's HTML safe: no script, style, form, frame or foreign content, every element closed, ids that are no
 * page's own, addresses as {@link Place} has them.
 *
 * @param maxNesting elements inside each other
 * @throws {@link NestingError}
 */
export function sanitise(html: string, place: Place, maxNesting: number): string {
  let depth = 0
  let links = 0
  const a: Transform = (_, attribs) => {
    const href = links > 1 ? null : linkAddress(attribs.href ?? '', place)
    // A link in a link would end the outer one.
    if (href === null) return { tagName: 'span', attribs: besidesHref(attribs) }
    const rel: Attributes = href.startsWith('#') ? {} : { rel: STRANGERS_LINK }
    const label: Attributes = attribs['aria-label'] === undefined ? {} : { 'aria-label': attribs['aria-label'] }
    return { tagName: 'a', attribs: { ...besidesHref(attribs), href, ...label, ...rel } }
  }
  const img: Transform = (_, attribs) => {
    const src = imageAddress(attribs.src ?? '', place)
    if (src !== null)
      return { tagName: 'img', attribs: { ...sized(attribs), src, alt: attribs.alt ?? '', loading: 'lazy' } }
    const text = attribs.alt?.trim() || fileName(attribs.src ?? '') || 'image'
    const href = links > 0 ? null : linkAddress(attribs.src ?? '', place)
    if (href === null) return { tagName: 'span', attribs: {}, text }
    return { tagName: 'a', attribs: { class: 'image', href, rel: STRANGERS_LINK }, text }
  }
  return sanitizeHtml(html, {
    allowedTags: TAGS,
    allowedAttributes: allowedAttributes(),
    allowedClasses: ALLOWED_CLASSES,
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    selfClosing: ['img', 'br', 'hr', 'input', 'col', 'source', 'wbr'],
    nonTextTags: [
      'script',
      'style',
      'textarea',
      'option',
      'xmp',
      'noscript',
      'title',
      'template',
      'iframe',
      'noembed',
      'noframes',
    ],
    onOpenTag(name) {
      if (++depth > maxNesting) throw new NestingError(`more than ${maxNesting} elements inside each other`)
      if (name === 'a') links++
    },
    onCloseTag(name) {
      depth--
      if (name === 'a') links--
    },
    transformTags: { a, img, input, source: source(place), '*': anyElement },
    textFilter: (text, tagName) => (LITERAL.has(tagName) ? visibleText(text) : text),
  })
}

function allowedAttributes(): Record<string, string[]> {
  const allowed: Record<string, string[]> = {}
  for (const [tag, names] of Object.entries(ALLOWED_ATTRIBUTES)) allowed[tag] = [...names]
  for (const tag of ALIGNED) allowed[tag] = [...(allowed[tag] ?? []), 'align']
  return allowed
}

const anyElement: Transform = (tagName, { id, ...attribs }) => {
  const named: Attributes = id !== undefined && /^\S{1,200}$/u.test(id) ? { id: prefixedId(id) } : {}
  return { tagName, attribs: { ...named, ...attribs } }
}

/** In the place of an element that is not to be. Not a name that is not allowed: its end tag would turn up at another's. */
const NOTHING = { tagName: 'span', attribs: {} }

/** Only the boxes of a task list. */
const input: Transform = (_, { type, checked }) => {
  if (type?.toLowerCase() !== 'checkbox') return NOTHING
  const state: Attributes = checked === undefined ? { 'aria-label': 'not done' } : { 'aria-label': 'done', checked: '' }
  return { tagName: 'input', attribs: { type: 'checkbox', class: 'task-list-item-checkbox', disabled: '', ...state } }
}

/** Another form of a picture, mostly for dark pages. */
function source(place: Place): Transform {
  return (_, { srcset = '', media = '' }) => {
    const candidates = srcset.trim().split(/\s*,\s+/)
    const placed = candidates.map((candidate) => {
      const [address = '', size = ''] = candidate.split(/\s+/, 2)
      const found = imageAddress(address, place)
      return found === null ? null : `${found} ${/^\d{1,5}(?:\.\d)?[wx]$/.test(size) ? size : ''}`.trim()
    })
    if (placed.includes(null) || !/^[\w\s():-]*$/.test(media)) return NOTHING
    return { tagName: 'source', attribs: { srcset: placed.join(', '), ...(media === '' ? {} : { media }) } }
  }
}

/** What a link has besides its address. `name` is an old way to say what links lead to. */
function besidesHref({ id, name, title, class: classes }: Attributes): Attributes {
  const kept = { id: id ?? name, title, class: classes }
  return Object.fromEntries(Object.entries(kept).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** An image's attributes, its size if it is one. */
function sized({ title, width, height, align }: Attributes): Attributes {
  const isSize = (size: string | undefined): size is string => size !== undefined && /^\d{1,4}(?:px|%)?$/.test(size)
  return {
    ...(title === undefined ? {} : { title }),
    ...(isSize(width) ? { width } : {}),
    ...(isSize(height) ? { height } : {}),
    ...(align === undefined ? {} : { align }),
  }
}

/** Where a link leads; null if it must not lead anywhere. */
function linkAddress(written: string, place: Place): string | null {
  const href = clean(written)
  if (href.startsWith('#')) return href === '#' ? '#' : `#${prefixedId(href.slice(1))}`
  if (href === '') return null
  return isWhole(href) ? wholeAddress(href, ['http:', 'https:', 'mailto:']) : placed(place.link(href))
}

function imageAddress(written: string, place: Place): string | null {
  const src = clean(written)
  if (src === '' || src.startsWith('#')) return null
  const asked = isWhole(src) ? wholeAddress(src, ['http:', 'https:']) : src
  return asked === null ? null : placed(place.image(asked))
}

/** As browsers do before they read an address. */
function clean(address: string): string {
  return address.replace(/[\t\n\r]/g, '').replace(/^[\0-\u0020]+|[\0-\u0020]+$/g, '')
}

/** An address in the one form that all readers understand alike; null if its scheme is none of these. */
function wholeAddress(address: string, schemes: readonly string[]): string | null {
  const url = URL.parse(/^[\\/]/.test(address) ? `https:${address}` : address)
  return url !== null && schemes.includes(url.protocol) ? url.href : null
}

const HERE = 'https://here.invalid'

/** What a {@link Place} has given, unless it leads elsewhere than it seems to. */
function placed(address: string | null): string | null {
  if (address === null) return null
  if (isWhole(address)) return wholeAddress(address, ['http:', 'https:'])
  const url = URL.parse(address, HERE)
  if (url === null || url.origin !== HERE || url.pathname.startsWith('//')) return null
  return url.pathname + url.search + url.hash
}

function fileName(address: string): string {
  const [path = ''] = address.split(/[?#]/, 1)
  return path.slice(path.lastIndexOf('/') + 1).slice(0, 100)
}

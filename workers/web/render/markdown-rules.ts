import type { MarkdownIt, StateCore, Token } from 'markdown-it'

/** What GitHub's Markdown has beyond the common one and is not in markdown-it: alerts, task lists, headings that can be linked to. */
export function githubRules(md: MarkdownIt): void {
  md.core.ruler.after('block', 'alerts', alerts)
  md.core.ruler.after('inline', 'task_lists', taskLists)
  md.core.ruler.after('task_lists', 'heading_ids', headingIds)
  // Instead of by a style, which pages do not allow.
  md.core.ruler.push('cell_alignment', alignCells)
}

const ALERT = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i

/** `> [!NOTE]`: a quotation that is set off as something else. */
function alerts(state: StateCore): void {
  const { tokens } = state
  const out: Token[] = []
  const isAlert: boolean[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    out.push(token)
    if (token.type === 'blockquote_close') {
      if (isAlert.pop()) token.tag = 'div'
    } else if (token.type === 'blockquote_open') {
      const text = tokens[at + 1]?.type === 'paragraph_open' ? tokens[at + 2]! : null
      const marker = text === null ? null : ALERT.exec(text.content)
      isAlert.push(marker !== null)
      if (text === null || marker === null) continue
      const kind = marker[1]!.toLowerCase()
      token.tag = 'div'
      token.attrSet('class', `markdown-alert markdown-alert-${kind}`)
      out.push(...alertTitle(state, kind))
      text.content = text.content.slice(marker[0].length)
      // Without a text of its own the paragraph goes.
      if (text.content === '') at += 3
    }
  }
  state.tokens = out
}

function alertTitle({ Token }: StateCore, kind: string): Token[] {
  const open = new Token('paragraph_open', 'p', 1)
  open.attrSet('class', 'markdown-alert-title')
  const text = new Token('inline', '', 0)
  text.content = kind[0]!.toUpperCase() + kind.slice(1)
  text.children = []
  return [open, text, new Token('paragraph_close', 'p', -1)]
}

/** `- [x] done`. */
function taskLists({ tokens, Token }: StateCore): void {
  const lists: Token[] = []
  for (const [at, token] of tokens.entries()) {
    if (token.type.endsWith('_list_open')) lists.push(token)
    else if (token.type.endsWith('_list_close')) lists.pop()
    else if (token.type === 'inline' && tokens[at - 2]?.type === 'list_item_open') {
      const first = token.children?.[0]
      const box = first?.type === 'text' ? /^\[([ xX])\]\s/.exec(first.content) : null
      if (first === undefined || box === null) continue
      first.content = first.content.slice(3)
      const checkbox = new Token('html_inline', '', 0)
      checkbox.content = `<input type="checkbox"${box[1] === ' ' ? '' : ' checked'}>`
      token.children!.unshift(checkbox)
      tokens[at - 2]!.attrSet('class', 'task-list-item')
      lists.at(-1)?.attrSet('class', 'contains-task-list')
    }
  }
}

/** Headings get ids as GitHub gives them, so that tables of contents work, and a link to themselves. */
function headingIds({ tokens, Token }: StateCore): void {
  const taken = new Map<string, number>()
  for (const [at, token] of tokens.entries()) {
    const inline = tokens[at + 1]
    if (token.type !== 'heading_open' || inline?.type !== 'inline') continue
    const title = plainText(inline.children ?? [])
    const id = uniqueId(slug(title), taken)
    if (id === '') continue
    token.attrSet('id', id)
    const link = new Token('link_open', 'a', 1)
    link.attrs = [
      ['class', 'anchor'],
      ['href', `#${id}`],
      ['aria-label', `Link to this section: ${title}`],
    ]
    const sign = new Token('text', '', 0)
    sign.content = '#'
    inline.children!.push(link, sign, new Token('link_close', 'a', -1))
  }
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('')
}

function slug(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Of several with the same words, the second gets `-1`. */
function uniqueId(id: string, taken: Map<string, number>): string {
  let unique = id
  while (taken.has(unique)) {
    const count = taken.get(id)! + 1
    taken.set(id, count)
    unique = `${id}-${count}`
  }
  taken.set(unique, 0)
  return unique
}

function alignCells({ tokens }: StateCore): void {
  for (const token of tokens) {
    if (token.type !== 'th_open' && token.type !== 'td_open') continue
    const side = /^text-align:(left|right|center)$/.exec(String(token.attrGet('style')))?.[1]
    token.attrs = side === undefined ? null : [['align', side]]
  }
}

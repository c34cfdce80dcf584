/** Strangers' text as it is safe to show: names, messages, lines of files. */

/**
 * Characters that change how the text around them reads without being seen themselves: controls, those that turn the
 * direction of writing (Trojan Source, CVE-2021-42574), blanks without width, tags, fillers that pass for letters, halves of
 * characters. The two joiners stay: emoji and several scripts are written with them; so do the signs of Arabic that Unicode
 * counts among the unseen, and tab and line feed, which callers treat.
 */
const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u17b4\u17b5\u3164\uffa0]--[\t\n\u200c\u200d\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]/gv

/** The first of the pictures of control characters; U+0000 to U+0020 have theirs in order. */
const CONTROL_PICTURES = 0x2400
const DELETE_PICTURE = '\u2421'

/**
 * A name (of a file, branch, author, account) as it is shown: one line in which every character can be seen. Pages set it in
 * `<bdi>`, so that letters of the other direction do not reorder what stands beside it. It is text, not HTML.
 */
export function visibleName(name: string): string {
  return visibleText(name).replaceAll('\n', '\u240a').replaceAll('\t', '\u2409')
}

/** As {@link visibleName}, but with its lines and tabs; CR LF ends a line as LF does. */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, picture)
}

/** What stands in the place of a character that is not seen. */
function picture(character: string): string {
  const code = character.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code)
  if (code === 0x7f) return DELETE_PICTURE
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as HTML, inside an element or a quoted attribute; also as XML, once {@link visibleText} has taken the controls. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** What addresses that strangers name are linked with: nothing of ours is told to them, and nothing is said for them. */
export const STRANGERS_LINK = 'nofollow noopener ugc'

const URLS = /\bhttps?:\/\/[^\s<>"'`\\^{|}]+/giu

/** A commit's or tag's message as safe HTML: escaped, what is unseen made visible, its http and https addresses linked. */
export function messageHtml(message: string): string {
  const text = visibleText(message)
  let html = ''
  let done = 0
  for (const { 0: found, index } of text.matchAll(URLS)) {
    const url = withoutPunctuation(found)
    if (!URL.canParse(url)) continue
    html += escapeHtml(text.slice(done, index))
    html += `<a href="${escapeHtml(url)}" rel="${STRANGERS_LINK}">${escapeHtml(url)}</a>`
    done = index + url.length
  }
  return html + escapeHtml(text.slice(done))
}

/** An address ends before the punctuation of the sentence, and before a bracket that it has not opened. */
function withoutPunctuation(url: string): string {
  const opened = { ')': count(url, '('), ']': count(url, '[') }
  const closed = { ')': count(url, ')'), ']': count(url, ']') }
  let end = url.length
  for (; end > 0; end--) {
    const last = url[end - 1]!
    if (last === ')' || last === ']') {
      if (closed[last] <= opened[last]) break
      closed[last]--
    } else if (!'.,:;!?*_~'.includes(last)) break
  }
  return url.slice(0, end)
}

function count(text: string, character: string): number {
  let found = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found++
  return found
}

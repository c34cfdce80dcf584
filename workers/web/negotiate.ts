/** As what a page is sent: for people, for programs, and for agents and terminals. */
export type Form = 'html' | 'json' | 'markdown'

/** What each type that may be asked for stands for; of those that are wanted alike, the first is taken. */
const FORMS: readonly (readonly [type: string, form: Form])[] = [
  ['text/html', 'html'],
  ['application/json', 'json'],
  ['text/markdown', 'markdown'],
  ['text/plain', 'markdown'],
]

/**
 * The form that a client wants by `Accept` (RFC 9110, 12.5.1). Browsers name `text/html`; whoever takes anything, as curl
 * and many agents, gets text.
 */
export function formOf(request: Request): Form {
  if (isOfGo(request)) return 'html'
  const wanted = new Map<string, number>()
  for (const part of (request.headers.get('Accept') ?? '').split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    wanted.set(type, quality === undefined ? 1 : Number(quality.slice(2)) || 0)
  }
  let best: Form = 'markdown'
  let most = 0
  for (const [type, form] of FORMS) {
    const quality = wanted.get(type) ?? 0
    if (quality > most) [best, most] = [form, quality]
  }
  return best
}

/**
 * Whether Go asks, which looks in any path below a repository for the tag of its page that says where it is. It names no type
 * that it wants. https://go.dev/ref/mod#vcs-find
 */
export function isOfGo({ url }: Pick<Request, 'url'>): boolean {
  return new URL(url).searchParams.get('go-get') === '1'
}

/** The media type of a form. Text that was not asked for as Markdown is plain: terminals and browsers show it. */
export function mediaTypeOf(form: Form, request: Request): string {
  if (form === 'html') return 'text/html; charset=utf-8'
  if (form === 'json') return 'application/json'
  const asked = (request.headers.get('Accept') ?? '').toLowerCase().includes('text/markdown')
  return `${asked ? 'text/markdown' : 'text/plain'}; charset=utf-8`
}

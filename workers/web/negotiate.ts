/**
 * Whether a client wants a page for people: browsers name `text/html`. curl, which takes anything, programs and agents that name nothing,
 * or text or Markdown alone, get text.
 */
export function wantsHtml(request: Request): boolean {
  const accept = request.headers.get('Accept') ?? ''
  return accept.split(',').some((part) => {
    const [type, ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

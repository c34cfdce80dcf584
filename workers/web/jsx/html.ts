import { escapeHtml } from '../render/text.ts'

/** HTML that is put into a page as it stands: whoever makes one vouches for it. All other text is escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What may stand between tags. What is no text stands for nothing, so that `condition && <p>…</p>` works. */
export type Child = Html | string | number | boolean | null | undefined | readonly Child[]

/** A child as HTML. */
export function childHtml(child: Child): string {
  if (child instanceof Html) return child.text
  if (typeof child === 'string') return escapeHtml(child)
  if (typeof child === 'number') return String(child)
  if (Array.isArray(child)) return child.map(childHtml).join('')
  return ''
}

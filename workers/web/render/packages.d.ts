/** As much of the types of packages without any as is used. */
declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it'

  export default function footnotes(md: MarkdownIt): void
}

declare module 'highlight.js/lib/languages/*' {
  const define: (api: object) => object
  export default define
}

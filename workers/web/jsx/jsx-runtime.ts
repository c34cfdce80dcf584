import { escapeHtml } from '../render/text.ts'
import { type Child, childHtml, Html } from './html.ts'

/**
 * What the compiler makes of JSX (`jsxImportSource` in tsconfig.json): HTML at once, without a tree in between, since
 * pages are only ever written. Preact would do the same with more work, and its types bring those of a browser's DOM into a
 * program that runs in workerd.
 */

/** Attributes of an element: text and numbers are escaped, `true` is a bare name, and what is absent or false is left out. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | null | undefined | Child
  readonly children?: Child
}

type Component<P> = (props: P) => Html

/** Types that the compiler looks for beside the functions. */
export declare namespace JSX {
  type Element = Html
  interface ElementChildrenAttribute {
    children: unknown
  }
  interface IntrinsicAttributes {
    readonly key?: string | number
  }
  interface IntrinsicElements {
    [tag: string]: Attributes
  }
}

/** Elements that have no content and no end tag (HTML, 13.1.2). */
const VOID = new Set(['br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

export function jsx<P extends object>(type: string | Component<P>, props: P): Html {
  return typeof type === 'string' ? element(type, props as Attributes) : type(props)
}

export { jsx as jsxDEV, jsx as jsxs }

/** `<>…</>` */
export function Fragment({ children }: { readonly children?: Child }): Html {
  return new Html(childHtml(children))
}

function element(tag: string, { children, ...attributes }: Attributes): Html {
  let start = `<${tag}`
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    start += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`
  }
  return new Html(VOID.has(tag) ? `${start}>` : `${start}>${childHtml(children)}</${tag}>`)
}

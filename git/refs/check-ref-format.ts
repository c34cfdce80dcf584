const SPACE = 0x20
const DELETE = 0x7f
const FORBIDDEN = new Set(' ~^:?*[\\')

export interface RefFormatOptions {
  /** Accept a name of one component (`HEAD`). Default: false. */
  readonly allowOneLevel?: boolean
}

/**
 * Whether git accepts `name` as the name of a ref: the rules of git-check-ref-format(1), in the words of its
 * `check_refname_format`. A component that starts with a dash is fine here; only `git branch` refuses to make one.
 */
export function isRefName(name: string, options: RefFormatOptions = {}): boolean {
  if (name === '@' || name.endsWith('.')) return false
  const components = name.split('/')
  if (components.length < 2 && options.allowOneLevel !== true) return false
  return components.every(isComponent)
}

function isComponent(component: string): boolean {
  if (component === '' || component.startsWith('.') || component.endsWith('.lock')) return false
  if (component.includes('..') || component.includes('@{')) return false
  for (const character of component) {
    const code = character.codePointAt(0)!
    if (code < SPACE || code === DELETE || FORBIDDEN.has(character)) return false
  }
  return true
}

/**
 * Whether a push may create or move the ref: under `refs/`, and well formed below it. `refs/x` may be deleted and not
 * written, as with git.
 */
export function isPushableRef(name: string, options: { readonly forDeletion: boolean }): boolean {
  const rest = name.startsWith('refs/') ? name.slice('refs/'.length) : null
  return rest !== null && isRefName(rest, { allowOneLevel: options.forDeletion })
}

import { proseKind } from './readme.ts'

/** Where a document of a repository stands: what its links and images lead to. */
export interface Place {
  /**
   * @param href a relative address, as it was written
   * @returns where it leads; null if nowhere, and then it is shown as text
   */
  link(href: string): string | null
  /**
   * @param src a relative address as it was written, or a whole one of http or https
   * @returns where a browser may load it from; null if it may not, and then it is shown as a link
   */
  image(src: string): string | null
}

/** Ids of a document, and links to them, begin so: they are not to be taken for a page's own. */
export const ID_PREFIX = 'user-content-'

/** As {@link ID_PREFIX} says; what begins so already stays as it is. */
export function prefixedId(id: string): string {
  return id.startsWith(ID_PREFIX) ? id : ID_PREFIX + id
}

/** A directory of a repository at a revision. */
export interface PlaceInRepository {
  /** The path of the repository's pages, as `/alice.example/app`. */
  readonly repository: string
  /** A branch, a tag or a commit's id, not encoded. */
  readonly revision: string
  /** From the root of the tree, names joined by slashes, not encoded; the root is the empty one. */
  readonly directory: string
}

/** Links and images of a document in that directory lead to files of the same repository and revision. Other images are not loaded. */
export function placeIn({ repository, revision, directory }: PlaceInRepository): Place {
  const address = (kind: string, path: readonly string[]) =>
    [`${repository}/${kind}`, ...[...revision.split('/'), ...path].map(encodeURIComponent)].join('/')
  return {
    link(href) {
      const { path, fragment } = cut(href)
      const names = resolve(directory, path)
      if (names === null) return null
      const isDirectory = names.length === 0 || path.endsWith('/')
      const isDrawn = !isDirectory && proseKind(names.at(-1)!) === 'markdown'
      const at = isDrawn && fragment.length > 1 ? `#${prefixedId(fragment.slice(1))}` : fragment
      return address(isDirectory ? 'tree' : 'blob', names) + at
    },
    image(src) {
      if (isWhole(src)) return null
      const names = resolve(directory, cut(src).path)
      return names === null || names.length === 0 ? null : address('raw', names)
    },
  }
}

/** Whether an address has a scheme or a host. Browsers take backslashes for slashes. */
export function isWhole(address: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(address)
}

function cut(href: string): { path: string; fragment: string } {
  const hash = href.indexOf('#')
  const whole = hash === -1 ? href : href.slice(0, hash)
  // Such as `?raw=true`: it says nothing of the file.
  const query = whole.indexOf('?')
  return { path: query === -1 ? whole : whole.slice(0, query), fragment: hash === -1 ? '' : href.slice(hash) }
}

/** The names of a path that is written in a directory; null if it leads out of the repository or is malformed. */
function resolve(directory: string, path: string): string[] | null {
  const names = path.startsWith('/') ? [] : directory.split('/').filter((name) => name !== '')
  for (const part of path.split('/')) {
    const name = decode(part)
    // A slash that was encoded is none that separates names, and git has no names with one.
    if (name === null || name.includes('/') || name.includes('\0')) return null
    if (name === '..') {
      if (names.pop() === undefined) return null
    } else if (name !== '' && name !== '.') names.push(name)
  }
  return names
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

/** Paths inside a tree: names joined by slashes, as bytes. The root is the empty path. */

const SLASH = 0x2f

/** The names of a path. Empty ones fall away, so that slashes at the ends or doubled do no harm. */
export function splitPath(path: Uint8Array): Uint8Array[] {
  const names: Uint8Array[] = []
  for (let start = 0; start < path.length; ) {
    const slash = path.indexOf(SLASH, start)
    const end = slash === -1 ? path.length : slash
    if (end > start) names.push(path.subarray(start, end))
    start = end + 1
  }
  return names
}

export function joinPath(directory: Uint8Array, name: Uint8Array): Uint8Array {
  if (directory.length === 0) return name
  const path = new Uint8Array(directory.length + 1 + name.length)
  path.set(directory)
  path[directory.length] = SLASH
  path.set(name, directory.length + 1)
  return path
}

export interface RefPath {
  /** The known ref, as it stands in the text. */
  readonly ref: string
  /** What follows the slash after it; empty if nothing does. */
  readonly path: string
}

/**
 * Splits `<ref>/<path>` where both may have slashes, by the longest known ref that is followed by a slash or the end.
 *
 * @param isRef whether a short name (or an object id) is known
 * @returns null if no start of the text is known
 */
export function splitRefPath(text: string, isRef: (ref: string) => boolean): RefPath | null {
  for (let end = text.length; end > 0; end = text.lastIndexOf('/', end - 1)) {
    const ref = text.slice(0, end)
    if (isRef(ref)) return { ref, path: text.slice(end + 1) }
  }
  return null
}

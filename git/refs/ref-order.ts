/** A list of refs, or of anything that is named like one. */
export type Named = { readonly name: string }

/** Place of the first ref, of those from `low` on, whose name is not before `name`. The list is sorted by the bytes of the names. */
export function firstRefFrom(refs: readonly Named[], name: string, low = 0): number {
  let high = refs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRefNames(refs[middle]!.name, name) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The ref with this full name, or null. The list is sorted by the bytes of the names. */
export function findRef<T extends Named>(refs: readonly T[], name: string): T | null {
  const ref = refs[firstRefFrom(refs, name)]
  return ref?.name === name ? ref : null
}

/** Orders names by their bytes in UTF-8, that is by code points; JavaScript's own order is by UTF-16 units. */
export function compareRefNames(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === a.length || at === b.length) return a.length - b.length
  const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)]
  // Surrogates stand for the code points above all others.
  if (isSurrogate(one) !== isSurrogate(other)) return isSurrogate(one) ? 1 : -1
  return one - other
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

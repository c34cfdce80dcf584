/** What was applied together, and what could not be applied even alone. */
export interface Halved<T, O> {
  readonly applied: readonly { readonly items: readonly T[]; readonly outcome: O }[]
  readonly failed: readonly { readonly items: readonly T[]; readonly error: unknown }[]
}

/**
 * Applies items together. Where that fails it is tried with each half, so that one bad item takes no other along.
 *
 * @param mayBeTheirs whether some of the items may be at fault: else all that was tried together has failed, and is not tried apart
 */
export async function applyInHalves<T, O>(
  items: readonly T[],
  apply: (items: readonly T[]) => Promise<O>,
  mayBeTheirs: (error: unknown, items: readonly T[]) => Promise<boolean>,
): Promise<Halved<T, O>> {
  if (items.length === 0) return { applied: [], failed: [] }
  try {
    return { applied: [{ items, outcome: await apply(items) }], failed: [] }
  } catch (error) {
    if (items.length === 1 || !(await mayBeTheirs(error, items))) return { applied: [], failed: [{ items, error }] }
  }
  const middle = Math.ceil(items.length / 2)
  const first = await applyInHalves(items.slice(0, middle), apply, mayBeTheirs)
  const second = await applyInHalves(items.slice(middle), apply, mayBeTheirs)
  return { applied: [...first.applied, ...second.applied], failed: [...first.failed, ...second.failed] }
}

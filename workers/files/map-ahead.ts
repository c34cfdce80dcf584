/** How a call went, so that one that fails early is not a rejection that nobody awaits. */
type Settled<T> = { readonly value: T } | { readonly error: unknown }

/** Applies `map` to each item and gives the results in order, with up to `width` calls under way at once. */
export async function* mapAhead<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  width: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const underWay: Promise<Settled<R>>[] = []
  for await (const item of items) {
    underWay.push(settle(map(item)))
    if (underWay.length >= width) yield unwrap(await underWay.shift()!)
  }
  for (const settled of underWay) yield unwrap(await settled)
}

async function settle<T>(promise: Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await promise }
  } catch (error) {
    return { error }
  }
}

function unwrap<T>(settled: Settled<T>): T {
  if ('error' in settled) throw settled.error
  return settled.value
}

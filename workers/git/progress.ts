import type { Tell } from '../../durable-objects/landing/tell.ts'

/** Runs work that tells how it goes, and gives its lines as they come; returns what the work returns. */
export async function* withProgress<T>(work: (tell: Tell) => Promise<T>): AsyncGenerator<string, T, undefined> {
  const lines: string[] = []
  let wake: () => void = () => undefined
  let isSettled = false
  const result = work((line) => {
    lines.push(line)
    wake()
  })
  const settled = result.then(
    () => undefined,
    () => undefined,
  )
  void settled.then(() => {
    isSettled = true
    wake()
  })
  for (;;) {
    for (let line = lines.shift(); line !== undefined; line = lines.shift()) yield line
    if (isSettled) return result
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

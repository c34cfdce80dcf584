/** Told lines for the person who waits. */
export type Tell = (line: string) => void

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

/** Percentages worth telling: one line for each step, not for each call. */
const STEP = 10

/** Counts as git shows them: in place until they are done. */
export function counter(label: string, tell: Tell): (done: number, total: number) => void {
  let told = -1
  return (done, total) => {
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
    const step = Math.floor(percent / STEP)
    if (step === told) return
    told = step
    tell(`${label}: ${String(percent).padStart(3)}% (${done}/${total})${done === total ? ', done.\n' : '\r'}`)
  }
}

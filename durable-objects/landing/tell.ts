/** Told lines for the person who waits. */
export type Tell = (line: string) => void

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

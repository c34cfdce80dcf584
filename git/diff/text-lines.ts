const LF = 0x0a
const CR = 0x0d

/** A text in lines, each with its line break. Of texts that one {@link LineNumbers} has numbered, equal lines have equal numbers. */
export interface TextLines {
  readonly bytes: Uint8Array
  /** Where each line starts, and at the end the length of the text. */
  readonly starts: Uint32Array
  readonly numbers: Uint32Array
}

/** One character a byte, each its own. */
const byteText = new TextDecoder('windows-1252', { fatal: false, ignoreBOM: true })

/** Numbers the different lines of several texts from 0. */
export class LineNumbers {
  readonly #known = new Map<string, number>()

  /** How many different lines there are. */
  get size(): number {
    return this.#known.size
  }

  split(bytes: Uint8Array): TextLines {
    const starts = lineStarts(bytes)
    const text = byteText.decode(bytes)
    const numbers = new Uint32Array(starts.length - 1)
    for (let line = 0; line < numbers.length; line++) {
      const content = text.slice(starts[line]!, starts[line + 1]!)
      let number = this.#known.get(content)
      if (number === undefined) {
        number = this.#known.size
        this.#known.set(content, number)
      }
      numbers[line] = number
    }
    return { bytes, starts, numbers }
  }
}

/** How many lines a text has, one without a line break at its end included. */
export function countLines(bytes: Uint8Array): number {
  let count = bytes.length === 0 || bytes.at(-1) === LF ? 0 : 1
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++
  return count
}

/** Where each line starts, and at the end the length of the text. */
export function lineStarts(bytes: Uint8Array): Uint32Array {
  const count = countLines(bytes)
  const starts = new Uint32Array(count + 1)
  for (let line = 1; line < count; line++) starts[line] = bytes.indexOf(LF, starts[line - 1]!) + 1
  starts[count] = bytes.length
  return starts
}

/** The bytes of the lines from `start` up to `end`, as a view. */
export function viewLines({ bytes, starts }: TextLines, start: number, end: number): Uint8Array {
  return bytes.subarray(starts[start]!, starts[end]!)
}

/** Whether a line ends in CR LF; null where it has no line break. */
export function endsInCrLf({ bytes, starts }: TextLines, line: number): boolean | null {
  const end = starts[line + 1]!
  if (bytes[end - 1] !== LF) return null
  return end - starts[line]! > 1 && bytes[end - 2] === CR
}

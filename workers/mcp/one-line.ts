/** Longer texts of strangers are cut where a line of an answer shows them, in UTF-16 units. */
const SHOWN = 200

/** A stranger's text as part of a line: without line breaks and control characters, and not too long. */
export function oneLine(text: string, most = SHOWN): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line
}

/** C0, C1 and what some programs take for the end of a line; quotes and backslashes, so that what is quoted is told apart. */
const ODD = /[\p{Cc}\u2028\u2029"\\]/u

/** A path in a line of text: one that could pass for more than a path is quoted, as JSON does it. */
export function showPath(path: string): string {
  return ODD.test(path) ? JSON.stringify(path) : path
}

/** As much of a text as `length` UTF-16 units hold, to the end of a line where there is one in it. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const end = text.lastIndexOf('\n', length - 1) + 1
  return end > 0 ? text.slice(0, end) : text.slice(0, length).toWellFormed()
}

/** A text or number that a commit or tag cannot hold. The message says which, and what it may be. */
export class FieldError extends Error {
  override name = 'FieldError'
}

const NUL = '\0'

/** @throws {@link FieldError} if it is no text that UTF-8 can hold, or has NUL in it, where git would end it. */
export function checkText(text: string, field: string): void {
  if (!text.isWellFormed()) throw new FieldError(`${field} has half of a surrogate pair in it`)
  if (text.includes(NUL)) throw new FieldError(`${field} must not hold NUL`)
}

/** What whoever asks for something that is blocked is told. @param reason the operator's own words; may be empty */
export function blockedMessage(reason: string): string {
  return `blocked by the operator of this edge${reason === '' ? '' : `: ${reason}`}`
}

/** The same for an account that is not on the operator's list. */
export const NOT_MIRRORED = 'the operator of this edge does not have this account mirrored here'
export const NOT_WRITTEN = 'the operator of this edge does not have this account written to here'

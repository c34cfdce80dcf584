import { isRefName } from '../../git/refs/check-ref-format.ts'
import { invalidRequest } from '../http/http-error.ts'

const BRANCHES = 'refs/heads/'

/** The full name of a branch that is given by it, or by the short one. @throws {@link HttpError} 400 */
export function parseBranchParam(text: string): string {
  const ref = text.startsWith(BRANCHES) ? text : BRANCHES + text
  if (isRefName(ref) && ref.isWellFormed()) return ref
  throw invalidRequest(`branch: ${JSON.stringify(text)} is no name for a branch`)
}

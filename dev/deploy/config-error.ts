import { DeployError } from './wrangler.ts'

/** What wrangler throws for a file that it cannot parse, as far as it is needed. */
interface ParseFault {
  readonly text?: string
  readonly location?: { readonly line?: number }
}

/** In one line: the file, the number of the line where that is known, and the reason. */
export function configError(error: unknown, path: string): DeployError {
  const { text, location } = error as ParseFault
  const [reason = ''] = (text ?? (error instanceof Error ? error.message : String(error))).trim().split('\n')
  return new DeployError(`${path}${location?.line === undefined ? '' : `:${location.line}`}: ${reason}`)
}

import { showPath } from '../files/show-path.ts'
import type { HttpError } from '../http/http-error.ts'

const NEEDS_TOKEN =
  'Reading needs no token, writing does: the account’s owner makes one (dev.skein.token.create), and it goes into the configuration of this MCP server as the header `Authorization: Bearer skein_…`. You cannot do this yourself: tell your user.'
const TELL_OWNER =
  'Another call will not help: tell your user, or do it where the token may, on another branch for instance.'

const NOT_SERVED = 'The operator of this edge has it so: another call will not help. Tell your user.'

/** What is to be done about an error that a model meets, beside what its message says. */
const ADVICE: Readonly<Record<string, string>> = {
  AuthenticationRequired: NEEDS_TOKEN,
  InvalidToken: NEEDS_TOKEN,
  ExpiredToken: NEEDS_TOKEN,
  NotYourAccount: TELL_OWNER,
  Forbidden: TELL_OWNER,
  AccountRefused: 'The account’s owner has to sign in to this edge anew: tell your user.',
  Blocked: NOT_SERVED,
  NotServed: NOT_SERVED,
  SizeCapExceeded: NOT_SERVED,
  ActorNotFound: 'Check the handle: it is a domain name, as alice.example, or a DID.',
  RepositoryNotFound: 'See list_repos for what an account has.',
  RevisionNotFound: 'See list_branches and log for what there is.',
  BranchNotFound: 'See list_branches for what there is, or make it by create_branch.',
  AmbiguousRevision: 'Give more digits of the id.',
  PathNotFound: 'See list_files or search_files for what there is at this revision.',
  UnexpectedContent: 'Nothing landed. Read the file anew, redo your change on it, and expect the id that is present.',
  TipMoved: 'Nothing was done. Look at what is new by log and diff, then call again with expectTip as it is now.',
  BranchExists: 'Nothing was done. Use the branch as it is, or choose another name.',
  NotFastForward: 'Nothing was done. Use strategy merge or rebase.',
  NothingToCommit: 'The branch has it all already: there is nothing left to do.',
  InvalidChange: 'Nothing landed. Correct this change and hand in all of them again.',
  IdempotencyKeyReused: 'Take a new key for other work.',
}

/** Longer texts of conflicts are left out, in UTF-16 units: sides and marked text, of all paths. */
const MAX_CONFLICT_TEXT = 64 * 1024

/** `dev.skein.gateway.defs#conflict` */
interface Conflict {
  readonly path: string
  readonly kind: string
  readonly base?: Side
  readonly ours?: Side
  readonly theirs?: Side
  readonly merged?: string
}

interface Side {
  readonly oid: string
  readonly text?: string
}

/** What a model is told of an error: its name, what happened, and what to do. */
export function errorText({ code, message, headers, details }: HttpError, tool: string): string {
  const lines = [`${code}: ${message}`]
  if (typeof details.present === 'string') lines.push(`Present: ${details.present}`)
  const advice = ADVICE[code]
  if (advice !== undefined) lines.push(advice)
  const retryAfter = headers['Retry-After']
  if (retryAfter !== undefined) lines.push(`Call again in ${retryAfter} s.`)
  if (code === 'MergeConflict') lines.push(...conflictLines(details.conflicts as readonly Conflict[], tool))
  return lines.join('\n')
}

function conflictLines(conflicts: readonly Conflict[], tool: string): string[] {
  const texts = new BoundedTexts(MAX_CONFLICT_TEXT)
  const shown = conflicts.flatMap((conflict) => ['', ...showConflict(conflict, texts)])
  return ['Nothing has changed on the branch.', ...shown, '', tool === 'merge' ? RESOLVE_MERGE : RESOLVE_COMMIT]
}

const RESOLVE_COMMIT =
  'To go on: 1. Take the tip of the branch from log (limit 1). 2. Read these files at it, and make of both sides what is right: no markers may be left. 3. Call commit again with these files whole, your other changes as before, and `base`: that tip.'

const RESOLVE_MERGE =
  'To go on: 1. Make of both sides what is right: no markers may be left. 2. On the source branch, commit these files as the branch that is merged into has them, and merge again: now nothing conflicts. 3. Commit what is right on the branch that was merged into. For strategy squash it is enough to commit the result there.'

function showConflict({ path, kind, base, ours, theirs, merged }: Conflict, texts: BoundedTexts): string[] {
  const heading = `=== ${showPath(path)} (${kind})`
  const sides = [
    ['both were made from', base],
    ['the branch has', ours],
    ['yours', theirs],
  ] as const
  const ids = sides.map(([name, side]) => `${name}: ${side === undefined ? 'nothing' : `blob ${side.oid}`}`)
  const lines = [heading, ids.join('; ')]
  if (merged !== undefined) return [...lines, 'Both sides between markers, all else merged:', texts.take(merged)]
  for (const [name, side] of sides.slice(1)) {
    if (side?.text !== undefined) lines.push(`--- ${name}:`, texts.take(side.text))
  }
  return lines
}

class BoundedTexts {
  #left: number

  constructor(length: number) {
    this.#left = length
  }

  take(text: string): string {
    if (text.length > this.#left) return '(left out, too long: read it by read_file)'
    this.#left -= text.length
    return text.replace(/\n$/, '')
  }
}

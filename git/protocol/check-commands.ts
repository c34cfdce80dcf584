import { type Oid, ZERO_OID } from '../bytes/oid.ts'
import { isPushableRef } from '../refs/check-ref-format.ts'
import { RefNames } from '../refs/ref-conflicts.ts'
import type { RefCommand } from './receive-request.ts'

/** A command that may be carried out, or the words that go into its `ng`. */
export type CheckedCommand =
  | { readonly ok: true; readonly name: string; readonly old: Oid; readonly new: Oid }
  | { readonly ok: false; readonly name: string; readonly reason: string }

export interface CheckOptions {
  /** All or none: one bad command refuses the others too. */
  readonly atomic: boolean
  /** Why the pusher may not move a ref so, in words; null: they may. Default: they may do everything. */
  readonly refuse?: (move: { readonly name: string; readonly old: Oid; readonly new: Oid }) => string | null
}

/** Bytes of a ref's name, at most: what a `dev.skein.ref` record holds. */
export const REF_NAME_LIMIT = 1024

/** The ref is not what the client takes it to be: somebody else was faster. */
export const STALE_REF = 'fetch first'
export const ATOMIC_FAILURE = 'atomic push failed'

/**
 * Judges the commands of a push by what can be said without its objects: names, duplicates, names that stand in each
 * other's way, whether the pusher may, and whether the old ids are those of the refs. The answers are in the commands' order.
 *
 * Whoever moves the refs must compare the old ids again as it does so.
 *
 * @param refs the refs that exist: full name to target
 */
export function checkCommands(
  commands: readonly RefCommand[],
  refs: ReadonlyMap<string, Oid>,
  options: CheckOptions,
): CheckedCommand[] {
  const seen = new Set<string>()
  const checked = commands.map((command): CheckedCommand => {
    const name = decodeName(command.name)
    const reason = name.text === null ? 'ref name is not UTF-8' : refusal(command, name.text, refs, seen, options)
    if (name.text !== null) seen.add(name.text)
    return reason === null
      ? { ok: true, name: name.shown, old: command.old, new: command.new }
      : { ok: false, name: name.shown, reason }
  })
  refuseConflicts(checked, refs)
  if (!options.atomic || checked.every((command) => command.ok)) return checked
  return checked.map((command) => (command.ok ? { ok: false, name: command.name, reason: ATOMIC_FAILURE } : command))
}

function refusal(
  command: RefCommand,
  name: string,
  refs: ReadonlyMap<string, Oid>,
  seen: ReadonlySet<string>,
  { refuse }: CheckOptions,
): string | null {
  const isDeletion = command.new === ZERO_OID
  if (command.name.length > REF_NAME_LIMIT) return `ref name is longer than ${REF_NAME_LIMIT} bytes`
  if (!isPushableRef(name, { forDeletion: isDeletion })) return 'funny refname'
  if (seen.has(name)) return 'multiple updates for one ref'
  const refused = refuse?.({ name, old: command.old, new: command.new }) ?? null
  if (refused !== null) return refused
  const target = refs.get(name) ?? ZERO_OID
  // Deleting what is not there is a success: that is what the client wants.
  if (isDeletion && target === ZERO_OID) return null
  if (command.old === target) return null
  if (command.old === ZERO_OID) return 'reference already exists'
  return STALE_REF
}

/** Refuses new refs that would be a directory of another ref, or lie in one: of two in one push the second. */
function refuseConflicts(commands: CheckedCommand[], refs: ReadonlyMap<string, Oid>): void {
  const isNew = (command: CheckedCommand) => command.ok && command.new !== ZERO_OID && !refs.has(command.name)
  if (!commands.some(isNew)) return
  const names = new RefNames(refs.keys())
  for (const command of commands) if (command.ok && command.new === ZERO_OID) names.delete(command.name)
  for (const [i, command] of commands.entries()) {
    if (!isNew(command)) continue
    const { name } = command
    const other = names.conflictWith(name)
    if (other === null) names.add(name)
    else commands[i] = { ok: false, name, reason: `'${other}' exists; cannot create '${name}'` }
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

function decodeName(bytes: Uint8Array): { text: string | null; shown: string } {
  const shown = lenient.decode(bytes)
  try {
    return { text: strict.decode(bytes), shown }
  } catch (error) {
    if (error instanceof TypeError) return { text: null, shown }
    throw error
  }
}

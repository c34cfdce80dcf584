import type { LandingResult } from '../../atproto/account/landing.ts'
import { type CheckedCommand, STALE_REF } from '../../git/protocol/check-commands.ts'
import type { CommandStatus, ReportStatus } from '../../git/protocol/report-status.ts'

/** The report where nothing was written. @param otherwise what is said of commands that are not at fault themselves */
export function refuseAll(
  commands: readonly CheckedCommand[],
  otherwise: string,
  unpackError: string | null = null,
): ReportStatus {
  return { unpackError, commands: commands.map((command) => refuse(command, otherwise)) }
}

/** The report of what landed, and of what did not. */
export function reportLanding(commands: readonly CheckedCommand[], result: LandingResult): ReportStatus {
  const outcomes = new Map(result.moves.map((move) => [move.name, move]))
  return { unpackError: null, commands: commands.map((command) => statusOf(command, outcomes)) }
}

function refuse(command: CheckedCommand, otherwise: string): CommandStatus {
  return { ok: false, name: command.name, reason: command.ok ? otherwise : command.reason }
}

function statusOf(
  command: CheckedCommand,
  outcomes: ReadonlyMap<string, LandingResult['moves'][number]>,
): CommandStatus {
  if (!command.ok) return command
  const move = outcomes.get(command.name)
  // No move: there was nothing to do.
  if (move === undefined || move.outcome === 'landed') return { ok: true, name: command.name }
  if (move.outcome === 'lost') return { ok: false, name: command.name, reason: STALE_REF }
  const when = move.retryAfterSeconds === null ? '' : ` (try again in ${move.retryAfterSeconds} s)`
  return { ok: false, name: command.name, reason: `${move.message}${when}` }
}

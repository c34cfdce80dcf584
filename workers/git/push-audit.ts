import type { Landing, LandingResult } from '../../atproto/account/landing.ts'
import { log } from '../../durable-objects/log.ts'
import { tids } from '../../durable-objects/tids.ts'
import { LandingAudit } from '../../storage/access/landing-audit.ts'
import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../request-context.ts'

/** Writes down what a token has pushed: one row for each ref that it moved. It is pushed in any case. */
export async function auditPush(
  { db }: RequestContext,
  caller: Caller,
  { did, repo }: Landing,
  { moves }: LandingResult,
): Promise<void> {
  if (caller.tokenId === null) return
  const landing = tids.next()
  const landedAt = Date.now()
  const rows = moves.flatMap((move) =>
    move.outcome !== 'landed'
      ? []
      : [
          {
            ticket: `${landing}:${move.name}`,
            did,
            rkey: repo,
            ref: move.name,
            landing,
            commit: move.state.target,
            kind: 'push' as const,
            submitter: caller.did,
            token: caller.tokenId,
            label: caller.label,
            landedAt,
          },
        ],
  )
  try {
    await new LandingAudit(db).record(rows)
  } catch (error) {
    log('audit-failed', { did, repo, token: caller.tokenId, rows: rows.length, reason: String(error) })
  }
}

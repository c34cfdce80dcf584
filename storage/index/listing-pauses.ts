import { type SQL, sql } from 'drizzle-orm'
import { listingPauses } from './tables.ts'

/**
 * A pause between two listings of an account, however often it is wanted: twice as long each time, up to an hour, and shorter
 * again as time goes by. What people do is seen within seconds; whoever goes on is listed some twelve times an hour.
 * Milliseconds.
 */
const FIRST_PAUSE = 2_000
const LONGEST_DOUBLING = 11
/** By one doubling less in so many milliseconds. */
const FORGIVEN_IN = 5 * 60_000
/** Longer than any pause is remembered. Milliseconds. */
export const PAUSES_KEPT_FOR = 24 * 60 * 60_000

/** Counts a listing that begins, where a condition holds. */
export function notePause(did: string, now: number, condition: SQL): SQL {
  const left = sql`max(0.0, level - (excluded.listed_at - listed_at) * 1.0 / ${FORGIVEN_IN})`
  return sql`insert into ${listingPauses} (did, level, listed_at) select ${did}, 1.0, ${now} where ${condition}
    on conflict (did) do update set level = ${left} + 1, listed_at = excluded.listed_at`
}

/** When an account may be listed again, in milliseconds since 1970; 0: it was not, lately. An expression. @param did another */
export function pauseEnd(did: SQL): SQL {
  const doublings = sql`min(${sql.raw(`${LONGEST_DOUBLING}`)}, cast(round(p.level) as integer) - 1)`
  return sql`coalesce((select p.listed_at + (${sql.raw(`${FIRST_PAUSE}`)} << ${doublings}) from ${listingPauses} p where p.did = ${did}), 0)`
}

import { type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { repositories } from '../directory/tables.ts'
import {
  type IndexedRepository,
  indexedRepository,
  REPOSITORY_COLUMNS,
  type RepositoryColumns,
} from './indexed-repository.ts'
import { type Page, type Position, pageOf } from './keyset.ts'
import type { SearchQuery } from './search-query.ts'
import { accounts } from './tables.ts'
import { isRepositoryVisible } from './visible.ts'

/**
 * So many repositories are looked at. Where more of them answer a query its words are common, and their weights say
 * nothing: then the newest of them are taken.
 */
const WEIGHED = 200
/** Repositories that have the very name that was asked for, the newest activity first. */
const NAMESAKES = 100
/** Weights of the columns of `repository_search`: name, topics, owner, description. */
const WEIGHTS = sql.raw('10.0, 5.0, 3.0, 1.0')

export interface SearchOptions {
  readonly limit: number
  /** Of the page before: where it ended. */
  readonly after?: Position
  /** Milliseconds since 1970: what says that it comes later is no newer than this. */
  readonly now: number
}

type Found = RepositoryColumns & {
  readonly place: number
  readonly tier: number
  readonly weight: number
  readonly at: number
}

/**
 * Repositories, best first: those whose name is the query, then those with its words in their names, then all others; of
 * each by weight, then by activity. What is weighed is bounded, so that a word that all have costs no more than another.
 *
 * @param match of the query, not null
 */
export async function searchRepositories(
  db: DrizzleD1Database,
  { name, match }: SearchQuery & { readonly match: string },
  { limit, after, now }: SearchOptions,
): Promise<Page<IndexedRepository>> {
  const rows = await db.all<Found>(sql`
    with is_rare as (
      select count(*) <= ${WEIGHED} as yes from (select 1 from repository_search where repository_search match ${match} limit ${WEIGHED + 1})
    ),
    candidates as (
      select * from (select ${repositories.id} as id, 0 as tier, 0 as weight from ${shown(sql`${repositories}`, sql`${repositories.name} = ${name} collate nocase`)}
        order by ${repositories.pushedAt} desc limit ${NAMESAKES})
      union all
      select * from (select ${repositories.id}, 1, 0 from ${matching(`{name} : (${match})`)}
        order by s.rowid desc limit ${WEIGHED})
      union all
      select * from (select ${repositories.id}, 2, cast(round(bm25(repository_search, ${WEIGHTS})) as integer) from ${matching(match)}
        and (select yes from is_rare) limit ${WEIGHED})
      union all
      select * from (select ${repositories.id}, 2, 0 from ${matching(match)}
        and not (select yes from is_rare) order by s.rowid desc limit ${WEIGHED})
    ),
    ranked as (
      select c.id, min(c.tier) as tier, min(c.weight) as weight, -min(${repositories.pushedAt}, ${now}) as at, -c.id as place
      from candidates c cross join ${repositories} where ${repositories.id} = c.id group by c.id
    )
    select place, tier, weight, at, ${REPOSITORY_COLUMNS}
    from (select * from ranked ${
      after === undefined
        ? sql``
        : sql`where (tier, weight, at, place) > (${sql.join(
            after.map((value) => sql`${value}`),
            sql`, `,
          )})`
    }
      order by tier, weight, at, place limit ${limit + 1}) as ranked
    cross join ${repositories} cross join ${accounts}
    where ${repositories.id} = ranked.id and ${accounts.did} = ${repositories.did}
    order by tier, weight, at, place`)
  return pageOf(rows, limit, ({ tier, weight, at, place }) => [tier, weight, at, place], indexedRepository)
}

/** Repositories that are shown, with their accounts. The order of the join is told: there are no statistics. */
function shown(from: SQL, condition: SQL): SQL {
  return sql`${from} cross join ${accounts} where ${condition} and ${accounts.did} = ${repositories.did} and ${isRepositoryVisible()}`
}

function matching(match: string): SQL {
  return shown(
    sql`repository_search s cross join ${repositories}`,
    sql`s.repository_search match ${match} and ${repositories.id} = s.rowid`,
  )
}

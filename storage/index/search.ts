import { type SQL, sql } from 'drizzle-orm'
import { repositories } from '../directory/tables.ts'
import { isShown } from '../shown.ts'
import { REPOSITORY_COLUMNS, type RepositoryColumns } from './indexed-repository.ts'
import type { Position } from './keyset.ts'
import type { LongStart, SearchQuery } from './search-query.ts'
import { accounts, pushes } from './tables.ts'

/** So many repositories are looked at. Where more of them answer a query, the newest of them are taken, and not weighed. */
const WEIGHED = 200
/** A word that more repositories have says nothing of any, and to weigh it would cost the more, the more there are. */
const RARE = 1_000
/** Repositories that have the very name that was asked for, the newest activity first. */
const NAMESAKES = 100
/** Weights of the columns of `repository_search`: name, topics, owner, description. */
const WEIGHTS = sql.raw('10.0, 5.0, 3.0, 1.0')

export interface SearchOptions {
  readonly limit: number
  /** Of the page before: where it ended. */
  readonly after?: Position
  /** Milliseconds since 1970: pushes that say that they come later are not believed. */
  readonly latest: number
}

/** A row of {@link selectFound}. */
export type FoundColumns = RepositoryColumns & {
  readonly place: number
  readonly tier: number
  readonly weight: number
  readonly at: number
}

/** Where a page ends with a row. */
export const foundPosition = ({ tier, weight, at, place }: FoundColumns): Position => [tier, weight, at, place]

/**
 * The query of repositories, best first: those whose name is the query, then those with its words in their names, then all
 * others; of each by weight, then by activity. What is looked at is bounded, so that a word that all have costs no more than
 * another. The full-text indexes have only what is shown.
 *
 * @param match of the query, not null
 */
export function selectFound(
  {
    name,
    match,
    terms,
    longStart,
    nameMatch,
    longNameStart,
  }: Omit<SearchQuery, 'match' | 'handlePrefix'> & { readonly match: string },
  { limit, after, latest }: SearchOptions,
): SQL {
  const isAfter = after === undefined ? sql`` : sql`where (tier, weight, at, place) > (${listOf(after)})`
  const all = bounded(sql`${match}`, longStart)
  const term = bounded(sql`e.value`, longStart)
  return sql`
    with ${howToStart(longStart)} found as materialized (
      select rowid as id from repository_search where repository_search match ${all} order by rowid desc limit ${WEIGHED + 1}
    ),
    weighing as materialized (
      select group_concat(${term}, ' AND ') as expression from json_each(${JSON.stringify(terms)}) e
      where (select count(*) from found) <= ${WEIGHED}
        and (select count(*) from (select 1 from repository_search where repository_search match ${term} limit ${RARE + 1})) <= ${RARE}
    ),
    candidates as (
      select id, 0 as tier, 0 as weight from (${namesakes(name, sql`<= ${latest}`)})
      union all
      select id, 0, 0 from (${namesakes(name, sql`> ${latest}`)})
      union all
      select id, 1, 0 from (
        select rowid as id from repository_names where repository_names match ${bounded(sql`${nameMatch ?? '""'}`, longNameStart)} order by rowid desc limit ${WEIGHED})
      union all
      select rowid, 2, cast(round(bm25(repository_search, ${WEIGHTS})) as integer) from weighing cross join repository_search
        where expression is not null and repository_search match expression and +rowid in (select id from found)
      union all
      select id, 2, 0 from found
    ),
    ranked as (
      select c.id, c.tier, c.weight, -(${believedPush(latest)}) as at, -c.id as place
      from (select id, min(tier) as tier, min(weight) as weight from candidates group by id) c
      cross join ${repositories} where ${repositories.id} = c.id
    )
    select place, tier, weight, at, ${REPOSITORY_COLUMNS}
    from (select * from ranked ${isAfter} order by tier, weight, at, place limit ${limit + 1}) as ranked
    cross join ${repositories} cross join ${accounts}
    where ${repositories.id} = ranked.id and ${accounts.did} = ${repositories.did}
    order by tier, weight, at, place`
}

/**
 * How a long start is looked for. To read all words that begin so costs the more, the more there are, and strangers can make
 * millions. So where many repositories have words that begin as it does, it is taken for a word, and if none has that, for what
 * the index has of it.
 */
function howToStart(start: LongStart | null): SQL {
  if (start === null) return sql``
  return sql`start as materialized (
      select case
        when (select count(*) from (select 1 from repository_search where repository_search match ${start.indexed} limit ${WEIGHED + 1})) <= ${WEIGHED} then 0
        when exists (select 1 from repository_search where repository_search match ${start.word}) then 1
        else 2 end as way
    ),`
}

/** An expression in which a long start is looked for in that way. */
function bounded(expression: SQL, start: LongStart | null): SQL {
  if (start === null) return expression
  const { term, word, indexed } = start
  return sql`replace(${expression}, ${term}, case (select way from start) when 0 then ${term} when 1 then ${word} else ${indexed} end)`
}

/** Those who say that they were pushed to later than now do not take the places of the others. */
function namesakes(name: string, time: SQL): SQL {
  return sql`select ${repositories.id} as id from ${repositories}
    where ${repositories.name} = ${name} collate nocase and ${isShown(repositories.shown)} and ${repositories.pushedAt} ${time}
    order by ${repositories.pushedAt} desc limit ${NAMESAKES}`
}

/** The newest push to a repository that is believed; 0: none is. */
function believedPush(latest: number): SQL {
  return sql`case when ${repositories.pushedAt} <= ${latest} then ${repositories.pushedAt} else
    (select coalesce(max(p.pushed_at), 0) from ${pushes} p
      where p.did = ${repositories.did} and p.repo = ${repositories.rkey} and p.pushed_at <= ${latest}) end`
}

function listOf(values: readonly unknown[]): SQL {
  return sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )
}

/**
 * Brings an object's tables to their present form: runs those of the steps that it has not run yet, in order. Steps are
 * known by their place, so they are only ever added at the end.
 */
export function runSteps(sql: SqlStorage, steps: readonly string[]): void {
  sql.exec('create table if not exists schema_steps (done integer not null)')
  const rows = sql.exec<{ done: number }>('select done from schema_steps').toArray()
  const done = new Set(rows.map((row) => row.done))
  for (const [i, step] of steps.entries()) {
    if (done.has(i)) continue
    sql.exec(step)
    sql.exec('insert into schema_steps values (?)', i)
  }
}

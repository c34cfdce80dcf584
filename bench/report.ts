/** One comparison: the edge against the other side, in one unit. */
export interface Row {
  readonly name: string
  readonly ours: number
  /** Null where there is nothing to compare with. */
  readonly other: number | null
  readonly unit: string
  /** What is to be reached, as `<= 1.5` of the ratio (or of `ours`, where there is no other side), or null. */
  readonly reach: string | null
}

export interface Report {
  readonly bench: string
  /** What `other` is, in a few words for the table's head. */
  readonly other: string
  readonly rows: readonly Row[]
  /** Counts and circumstances that belong to the figures. */
  readonly facts: Readonly<Record<string, Fact>>
}

export type Fact = string | number | boolean

export function formatTable({ bench, other, rows, facts }: Report): string {
  const head = ['', 'Skein', other, 'ratio', 'to reach', '']
  const body = rows
    .map(evaluate)
    .map((row) => [
      row.name,
      `${row.ours} ${row.unit}`,
      row.other === null ? '–' : `${row.other} ${row.unit}`,
      row.ratio === null ? '–' : row.ratio.toFixed(2),
      row.reach ?? '',
      row.ok === null ? '' : row.ok ? 'reached' : 'not reached',
    ])
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => (cells[column] as string).length)))
  const line = (cells: string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number),
      )
      .join('  ')
      .trimEnd()
  const notes = Object.entries(facts).map(([name, value]) => `  ${name.replaceAll('_', ' ')}: ${value}`)
  return [`bench ${bench}`, '', line(head), ...body.map(line), '', ...notes].join('\n')
}

/** One line, for programs. */
export function formatJson({ bench, rows, facts }: Report): string {
  return JSON.stringify({ bench, rows: rows.map(evaluate), facts })
}

interface EvaluatedRow extends Row {
  readonly ratio: number | null
  readonly ok: boolean | null
}

function evaluate({ name, ours, other, unit, reach }: Row): EvaluatedRow {
  const ratio = other === null ? null : round(ours / other, 3)
  return {
    name,
    ours: round(ours, 1),
    other: other === null ? null : round(other, 1),
    ratio,
    unit,
    reach,
    ok: isReached(reach, ratio ?? ours),
  }
}

function isReached(reach: string | null, value: number): boolean | null {
  if (reach === null) return null
  const match = /^(<=|>=) (\d+(?:\.\d+)?)$/.exec(reach)
  if (match === null) throw new Error(`no such thing to reach: ${reach}`)
  return match[1] === '<=' ? value <= Number(match[2]) : value >= Number(match[2])
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

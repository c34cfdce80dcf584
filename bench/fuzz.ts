import { fuzz, type Outcome } from './fuzz/fuzz.ts'
import type { Report, Row } from './report.ts'

const MEBIBYTE_IN_KIB = 1024

/** Nearly right packs, deltas, objects, requests and files, by the million: each must be answered, and soon. */
export async function benchFuzz({ inputs, seed }: { inputs: number; seed: number }): Promise<Report> {
  const outcomes = await fuzz({ inputs, seed })
  const faults = outcomes.flatMap((outcome) => outcome.faults.map((fault) => describe(outcome, fault)))
  return {
    bench: 'fuzz',
    other: 'nothing',
    rows: [
      single('faults: neither a value nor a named error', faults.length, 'inputs', '<= 0'),
      single('resident memory at most', process.resourceUsage().maxRSS / MEBIBYTE_IN_KIB, 'MiB', '<= 512'),
      // One garbage collection or another process may stand in the way of any of a million inputs.
      ...outcomes.map(({ target, slowest }) => single(`slowest ${target}`, slowest, 'ms', '<= 1000')),
    ],
    facts: {
      inputs,
      seed,
      ...Object.fromEntries(outcomes.map((outcome) => [outcome.target, countsOf(outcome)])),
      ...Object.fromEntries(faults.map((fault, n) => [`fault_${n + 1}`, fault])),
    },
  }
}

function single(name: string, ours: number, unit: string, reach: string): Row {
  return { name, ours, other: null, unit, reach }
}

function countsOf({ inputs, values, errors }: Outcome): string {
  const refused = Object.entries(errors).map(([name, count]) => `${count} ${name}`)
  return `${inputs} inputs, ${[`${values} read`, ...refused].join(', ')}`
}

function describe({ target }: Outcome, { seed, error }: Outcome['faults'][0]): string {
  return `${target}, seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`
}

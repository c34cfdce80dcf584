import { CrowdedOidsError } from '../../git/bytes/oid-table.ts'
import { DeltaError } from '../../git/delta/apply-delta.ts'
import { PackGraphError } from '../../git/graph/pack-graph.ts'
import { MalformedObjectError } from '../../git/object/malformed-object-error.ts'
import { MissingObjectError } from '../../git/object/missing-object-error.ts'
import { PackError } from '../../git/pack/entry-header.ts'
import { InflateError } from '../../git/pack/inflate-error.ts'
import { PackIndexError } from '../../git/pack/pack-index.ts'
import { ProtocolError } from '../../git/protocol/protocol-error.ts'
import { Random } from './random.ts'
import { makeSeeds } from './seeds.ts'
import { makeTargets, type Target } from './targets.ts'

/** What a parser may say to an input that is wrong. Anything else it throws is a fault of its own. */
const ANSWERS = [
  PackError,
  DeltaError,
  InflateError,
  CrowdedOidsError,
  MalformedObjectError,
  MissingObjectError,
  ProtocolError,
  PackIndexError,
  PackGraphError,
]

export interface Outcome {
  readonly target: string
  inputs: number
  /** How many were read as something. */
  values: number
  /** How many were refused, by the name of the error. */
  readonly errors: Record<string, number>
  /** Inputs that met neither, with what to call {@link inputOf} with. */
  readonly faults: Fault[]
  /** Milliseconds. */
  slowest: number
}

export interface Fault {
  readonly seed: number
  readonly error: unknown
}

/** Faults that are kept for each target: the first ones tell. */
const FAULTS_KEPT = 5
/** Kept apart, so that each input can be made again without those before it. */
const SEED_STEP = 0x9e3779b1

/** Feeds mutated inputs to all targets in turn. */
export async function fuzz(options: { inputs: number; seed: number }): Promise<Outcome[]> {
  const targets = makeTargets(await makeSeeds())
  const outcomes = targets.map(
    ({ name }): Outcome => ({ target: name, inputs: 0, values: 0, errors: {}, faults: [], slowest: 0 }),
  )
  for (let n = 0; n < options.inputs; n++) {
    const at = n % targets.length
    await feed(targets[at] as Target, outcomes[at] as Outcome, (options.seed + Math.imul(n, SEED_STEP)) >>> 0)
  }
  return outcomes
}

/** The input that a fault was met with. */
export async function inputOf(target: string, { seed }: Fault): Promise<Uint8Array | null> {
  const found = makeTargets(await makeSeeds()).find(({ name }) => name === target)
  return found?.make(new Random(seed)) ?? null
}

async function feed(target: Target, outcome: Outcome, seed: number): Promise<void> {
  const input = target.make(new Random(seed))
  outcome.inputs++
  const start = performance.now()
  try {
    await target.read(input)
    outcome.values++
  } catch (error) {
    if (!ANSWERS.some((answer) => error instanceof answer)) {
      if (outcome.faults.length < FAULTS_KEPT) outcome.faults.push({ seed, error })
    }
    const name = error instanceof Error ? error.name : String(error)
    outcome.errors[name] = (outcome.errors[name] ?? 0) + 1
  }
  outcome.slowest = Math.max(outcome.slowest, performance.now() - start)
}

import type { Oid } from '../bytes/oid.ts'
import type { RepositoryGraph } from '../graph/repository-graph.ts'
import { expandRef } from '../refs/expand-ref.ts'
import { commitsOf } from '../walk/plan-fetch.ts'
import { type Deepening, type ShallowUpdate, shallowUpdate } from '../walk/shallow-update.ts'
import type { AdvertisedRefs } from './advertised-refs.ts'
import { type Deepen, INFINITE_DEPTH, isDeepening } from './deepen.ts'
import type { PktLineWriter } from './pkt-line-writer.ts'
import { ProtocolError } from './protocol-error.ts'

/**
 * How the ends of a client's history move by what it asks for, or null if it does not ask.
 *
 * @throws {@link ProtocolError} if what it asks for cannot be had.
 */
export function resolveShallowUpdate(
  deepen: Deepen,
  wants: readonly Oid[],
  graph: RepositoryGraph,
  refs: AdvertisedRefs,
): ShallowUpdate | null {
  if (!isDeepening(deepen)) return null
  const update = shallowUpdate(
    graph,
    commitsOf(graph, wants),
    commitsOf(graph, deepen.shallow),
    toDeepening(deepen, graph, refs),
  )
  if (update === null) throw new ProtocolError('no commits selected for shallow requests')
  return update
}

/** Tells a client how the ends of its history move; the mark that ends the list is the caller's to write. */
export function writeShallowUpdate(writer: PktLineWriter, graph: RepositoryGraph, update: ShallowUpdate): void {
  for (const commit of update.shallow) writer.line(`shallow ${graph.oid(commit)}`)
  for (const commit of update.unshallow) writer.line(`unshallow ${graph.oid(commit)}`)
}

function toDeepening(deepen: Deepen, graph: RepositoryGraph, refs: AdvertisedRefs): Deepening {
  const { depth, relative, since } = deepen
  if (depth === null) return { kind: 'limits', since, not: commitsOf(graph, resolveNot(deepen.not, refs)) }
  if (depth >= INFINITE_DEPTH) return { kind: 'whole' }
  return { kind: relative ? 'relative' : 'depth', commits: depth }
}

/** What `deepen-not` names: refs, as git understands short names. */
function resolveNot(names: readonly string[], { head, refs }: AdvertisedRefs): Oid[] {
  if (names.length === 0) return []
  const targets = new Map<string, Oid>()
  for (const { name, target } of refs) targets.set(name, target)
  if (head.target !== null) targets.set('HEAD', head.target)
  return names.map((name) => {
    const [target, ...more] = expandRef(name, targets)
    if (target === undefined || more.length > 0) throw new ProtocolError(`ambiguous deepen-not: ${name}`)
    return target
  })
}

import type { Oid } from '../../git/bytes/oid.ts'
import type { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import type { Deepen } from '../../git/protocol/deepen.ts'
import type { NegotiationStore, Round } from '../../git/protocol/negotiation.ts'
import type { WantedRef } from '../../git/protocol/wanted-refs.ts'
import { expandName } from '../../git/refs/expand-ref.ts'
import type { RefSelection } from '../../git/refs/ref-selection.ts'
import type { ShallowUpdate } from '../../git/walk/shallow-update.ts'

/** What differs between the versions of the protocol once a request for a pack has been read. */
export interface FetchForm {
  readonly protocol: 0 | 2
  /** Whether the client will not say more of what it has. */
  readonly done: boolean
  readonly wants: readonly Oid[]
  /** Names of refs that are wanted whatever they point at by now. */
  readonly wantRefs: readonly string[]
  /** All refs that the client names: no others have a say in the answer, but tags that go along. */
  readonly namedRefs: RefSelection
  readonly haves: readonly Oid[]
  readonly deepen: Deepen
  readonly thinPack: boolean
  readonly ofsDelta: boolean
  readonly includeTag: boolean
  readonly noProgress: boolean
  /** Data bytes of a side-band packet, or null for a bare pack. */
  readonly bandLimit: number | null
  /** Whether all of the answer is in side bands, and not only the pack. */
  readonly isBandedFromStart: boolean
  /** The head where refs, haves and the ends of history have no say in it, or null: progress can follow it. */
  readonly constantHead: Uint8Array | null
  negotiate(store: NegotiationStore): Round
  /** All that precedes the pack. */
  encodeHead(head: FetchHead): Uint8Array[]
}

/** What the head of an answer tells. */
export interface FetchHead {
  readonly graph: RepositoryGraph
  readonly round: Round
  /** How the ends of the client's history move, or null if it has not asked for that. */
  readonly update: ShallowUpdate | null
  readonly wantedRefs: readonly WantedRef[]
}

/** All refs that a request names. */
export function namedRefs(wantRefs: readonly string[], { not }: Deepen): RefSelection {
  return { names: [...wantRefs, ...not.flatMap(expandName)], prefixes: [] }
}

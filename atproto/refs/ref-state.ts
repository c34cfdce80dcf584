import type { Oid } from '../../git/bytes/oid.ts'

/** A ref as the account holds it now. */
export interface RefState {
  /** Full name, `refs/heads/main`. */
  readonly name: string
  /** Null: it was deleted. The seq goes on from here when it is created again. */
  readonly target: Oid | null
  /** What an annotated tag points at in the end, else null. */
  readonly peeled: Oid | null
  /** Grows by one with each move. */
  readonly seq: number
  /** Record key of the pack that it needs. */
  readonly pack: string | null
  readonly at:
    | { readonly kind: 'loose' }
    | { readonly kind: 'packed'; readonly shard: number; readonly shardSeq: number }
}

import type { Oid } from '../git/bytes/oid.ts'
import type { CommitGraph } from '../git/graph/commit-graph.ts'
import type { ObjectSource } from '../git/object/object-source.ts'
import type { Manifest } from './manifest.ts'

/** A repository as one request reads it: a manifest, and the objects of exactly that manifest's packs. */
export interface RepositoryView {
  readonly manifest: Manifest
  /** The handle to show in URLs, or the DID where the account has none that verifies. */
  readonly actor: string
  readonly objects: RepositoryObjects
  /** The commits of all packs as one graph; loaded on first use. */
  graph(): Promise<CommitGraph>
}

export interface RepositoryObjects extends ObjectSource {
  /** Ids that start with these hex digits (4 to 40), at most `limit`: for abbreviated ids. */
  findByPrefix(prefix: string, limit: number): Promise<Oid[]>
  /**
   * The object's bytes as a stream, never whole in memory where it is large; null if it is absent.
   * `size` is the object's size in bytes.
   */
  open(oid: Oid): Promise<{ type: 1 | 2 | 3 | 4; size: number; stream(): ReadableStream<Uint8Array> } | null>
}

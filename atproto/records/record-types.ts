import type { Oid } from '../../git/bytes/oid.ts'

/**
 * What the records hold once they have been checked: plain values that can cross a Durable Object call.
 * `docs/storage.md` and the lexicons say what each field means.
 */

/** A blob as records and `uploadBlob` spell it in JSON. It is stored as the PDS returned it. */
export interface BlobRef {
  readonly $type: 'blob'
  readonly ref: { readonly $link: string }
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
}

/** `dev.skein.repo` */
export interface RepoRecord {
  readonly name: string
  readonly description?: string
  readonly website?: string
  readonly topics?: readonly string[]
  /** Short branch name. */
  readonly defaultBranch: string
  readonly objectFormat: 'sha1'
  /** at-uri of another `dev.skein.repo`. */
  readonly forkOf?: string
  /** RFC 3339. */
  readonly createdAt: string
}

/** `dev.skein.pack`: exactly one of `bytes` and `parts` is there. */
export interface PackRecord {
  readonly bytes?: Uint8Array
  readonly parts?: readonly BlobRef[]
  /** Bytes of the pack. */
  readonly size: number
  readonly objects: number
  /** The pack's trailer as hex. */
  readonly checksum: string
  readonly thin: boolean
  /** Record keys of the packs that this one was compacted from. */
  readonly replaces?: readonly string[]
  readonly createdAt: string
}

/** One ref at one seq: an entry of `dev.skein.refs`, and all of `dev.skein.ref` but the landing. */
export interface RefEntry {
  /** Full name, `refs/heads/main`. */
  readonly name: string
  /** Null: the ref was deleted (a tombstone). */
  readonly target: Oid | null
  /** What an annotated tag points at in the end. */
  readonly peeled?: Oid
  readonly seq: number
  /** Record key of the pack that the ref needs. */
  readonly pack?: string
}

/** `dev.skein.ref` */
export interface RefRecord extends RefEntry {
  /** TID that the writer chose for the landing: tells its own record from a racer's. */
  readonly landing?: string
}

/** `dev.skein.refs` */
export interface RefsRecord {
  readonly entries: readonly RefEntry[]
  readonly landing?: string
}

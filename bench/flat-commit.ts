import { deflateSync } from 'node:zlib'
import { concatBytes } from '../git/bytes/concat.ts'
import { type Oid, oidToBytes } from '../git/bytes/oid.ts'
import { hashObject } from '../git/object/hash-object.ts'
import { BLOB, COMMIT, type ObjectType, TREE } from '../git/object/object-type.ts'
import { encodeEntryHeader } from '../git/pack/entry-header.ts'
import { PackSink } from '../git/pack/pack-sink.ts'

const encoder = new TextEncoder()

export interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

/** A commit whose files all lie in its root. */
export interface FlatCommit {
  readonly oid: Oid
  /** Blobs by name, in git's order. */
  readonly files: ReadonlyMap<string, Oid>
  /** What it has and its parent has not: commit, tree, blobs. */
  readonly objects: readonly GitObject[]
}

export interface FlatChange {
  /** Null: it is a first one. */
  readonly parent: Pick<FlatCommit, 'oid' | 'files'> | null
  /** Contents by name, of the files that it writes. */
  readonly write: ReadonlyMap<string, string>
  readonly message: string
  /** Seconds since 1970. */
  readonly time: number
}

/** Makes a commit by hand: git itself would take longer than what is to be measured. */
export function commitFlat({ parent, write, message, time }: FlatChange): FlatCommit {
  const blobs: GitObject[] = []
  const written = [...write].map(([name, content]): [string, Oid] => {
    const blob: GitObject = { type: BLOB, bytes: encoder.encode(content) }
    blobs.push(blob)
    return [name, hashObject(blob.type, blob.bytes)]
  })
  const merged = new Map([...(parent?.files ?? []), ...written])
  const files = new Map([...merged].sort(([a], [b]) => (a < b ? -1 : 1)))
  const entries = [...files].flatMap(([name, oid]) => [encoder.encode(`100644 ${name}\0`), oidToBytes(oid)])
  const tree: GitObject = { type: TREE, bytes: concatBytes(entries) }
  const above = parent === null ? '' : `parent ${parent.oid}\n`
  const who = `Alice <alice@example.com> ${time} +0000`
  const text = `tree ${hashObject(TREE, tree.bytes)}\n${above}author ${who}\ncommitter ${who}\n\n${message}\n`
  const commit: GitObject = { type: COMMIT, bytes: encoder.encode(text) }
  return { oid: hashObject(COMMIT, commit.bytes), files, objects: [commit, tree, ...blobs] }
}

/** A pack of objects as they are. */
export function packOf(objects: readonly GitObject[]): Uint8Array {
  const sink = new PackSink()
  sink.header(objects.length)
  for (const { type, bytes } of objects) {
    sink.append(encodeEntryHeader(type, bytes.length))
    sink.append(deflateSync(bytes))
  }
  return concatBytes(sink.end())
}

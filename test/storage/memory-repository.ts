import { concatBytes } from '../../git/bytes/concat.ts'
import { type Oid, oidToBytes } from '../../git/bytes/oid.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import { hashObject } from '../../git/object/hash-object.ts'
import { BLOB, COMMIT, type GitObject, type ObjectType, TREE } from '../../git/object/object-type.ts'
import type { Manifest } from '../../storage/manifest.ts'
import type { RepositoryObjects, RepositoryView } from '../../storage/repository-view.ts'

const encoder = new TextEncoder()

/** A repository in memory, for tests that run where there is no git. */
export class MemoryRepository implements RepositoryObjects {
  readonly #objects = new Map<Oid, GitObject>()

  put(type: ObjectType, bytes: Uint8Array): Oid {
    const oid = hashObject(type, bytes)
    this.#objects.set(oid, { type, bytes })
    return oid
  }

  blob(content: string | Uint8Array): Oid {
    return this.put(BLOB, typeof content === 'string' ? encoder.encode(content) : content)
  }

  /** A tree of entries given in tree order. */
  tree(entries: readonly (readonly [mode: string, name: string, oid: Oid])[]): Oid {
    const parts = entries.flatMap(([mode, name, oid]) => [encoder.encode(`${mode} ${name}\0`), oidToBytes(oid)])
    return this.put(TREE, concatBytes(parts))
  }

  commit(tree: Oid, time: number): Oid {
    const who = `A <a@b> ${time} +0000`
    return this.put(COMMIT, encoder.encode(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nmessage\n`))
  }

  view(refs: Manifest['refs']): RepositoryView {
    return {
      manifest: {
        did: 'did:plc:alice',
        rkey: '3lskein000000',
        name: 'app',
        description: null,
        defaultBranch: 'main',
        version: 1,
        refs,
        packs: [],
      },
      actor: 'alice.test',
      objects: this,
      graph: (): Promise<CommitGraph> => Promise.reject(new Error('there is no graph in memory')),
    }
  }

  async read(oid: Oid): Promise<GitObject | null> {
    return this.#objects.get(oid) ?? null
  }

  async stat(oid: Oid): Promise<{ type: ObjectType; size: number } | null> {
    const object = this.#objects.get(oid)
    return object === undefined ? null : { type: object.type, size: object.bytes.length }
  }

  async findByPrefix(prefix: string, limit: number): Promise<Oid[]> {
    return [...this.#objects.keys()].filter((oid) => oid.startsWith(prefix)).slice(0, limit)
  }

  async open(oid: Oid): ReturnType<RepositoryObjects['open']> {
    const object = this.#objects.get(oid)
    if (object === undefined) return null
    const { type, bytes } = object
    return { type, size: bytes.length, stream: () => new Blob([bytes.slice()]).stream() as ReadableStream<Uint8Array> }
  }
}

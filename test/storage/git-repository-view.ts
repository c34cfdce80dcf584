import type { Oid } from '../../git/bytes/oid.ts'
import type { CommitGraph } from '../../git/graph/commit-graph.ts'
import type { Manifest } from '../../storage/manifest.ts'
import type { RepositoryObjects, RepositoryView } from '../../storage/repository-view.ts'
import type { ScratchRepository } from '../git/git.ts'
import { LogGraph } from '../git/log-graph.ts'
import { GitObjectSource } from '../git/object-process.ts'

/** Bytes of one chunk of a streamed object: small, so that objects come in several. */
const CHUNK = 4096

/** The twin of a mirrored repository: a repository of the real git, as it is when the view is made. */
export class GitRepositoryView implements RepositoryView {
  readonly manifest: Manifest
  readonly actor = 'alice.test'
  readonly objects: RepositoryObjects & AsyncDisposable
  readonly #repository: ScratchRepository

  constructor(repository: ScratchRepository, manifest: Partial<Manifest> = {}) {
    this.#repository = repository
    this.objects = new GitRepositoryObjects(repository)
    this.manifest = {
      did: 'did:plc:alice',
      rkey: '3lskein000000',
      name: 'app',
      description: 'What it is',
      defaultBranch: 'main',
      version: 1,
      refs: readRefs(repository),
      packs: [],
      ...manifest,
    }
  }

  async graph(): Promise<CommitGraph> {
    return new LogGraph(this.#repository)
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.objects[Symbol.asyncDispose]()
  }
}

function readRefs(repository: ScratchRepository): Manifest['refs'] {
  const lines = repository.text(['for-each-ref', '--format=%(refname)%00%(objectname)%00%(*objectname)']).split('\n')
  return lines.filter(Boolean).map((line) => {
    const [name, target, peeled] = line.split('\0') as [string, Oid, Oid | '']
    return { name, target, peeled: peeled === '' ? null : peeled }
  })
}

class GitRepositoryObjects extends GitObjectSource implements RepositoryObjects {
  readonly #repository: ScratchRepository

  constructor(repository: ScratchRepository) {
    super(repository.path)
    this.#repository = repository
  }

  async findByPrefix(prefix: string, limit: number): Promise<Oid[]> {
    return this.#repository
      .text(['rev-parse', `--disambiguate=${prefix}`])
      .split('\n')
      .filter(Boolean)
      .slice(0, limit)
  }

  async open(oid: Oid): ReturnType<RepositoryObjects['open']> {
    const object = await this.read(oid)
    if (object === null) return null
    const { type, bytes } = object
    let at = 0
    const stream = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= bytes.length) return controller.close()
          controller.enqueue(bytes.slice(at, at + CHUNK))
          at += CHUNK
        },
      })
    return { type, size: bytes.length, stream }
  }
}
